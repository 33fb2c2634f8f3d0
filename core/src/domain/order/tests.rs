use proptest::prelude::*;

use crate::error::ErrorKind;
use crate::model::Row as _;
use crate::model::row::row;
use crate::timestamp::Timestamp;

use super::*;

row! {
    /// A row.
    pub(super) struct Sample {
        /// Id.
        id: String = "id",
        /// Text.
        text: Option<String> = "text",
        /// Number.
        number: Option<f64> = "number",
        /// Count.
        count: i64 = "count",
        /// Flag.
        flag: bool = "flag",
        /// Time.
        time: Option<Timestamp> = "time",
    }
}

const QUESTION: Question = Question::Workspaces;

fn order(sort: &str) -> Order {
    Order::parse(sort, Sample::COLUMNS).unwrap()
}

fn page(
    rows: &[Sample],
    sort: &str,
    limit: u32,
    token: Option<String>,
) -> (Vec<Sample>, Option<String>) {
    let paging = Paging {
        sort: None,
        limit,
        next_token: token,
    };
    let mut picked = Picked::new(QUESTION, order(sort), &paging).unwrap();
    for row in rows {
        picked.offer(&row.id, |column| row.cell(column), || row.clone());
    }
    picked.finish()
}

fn walk(rows: &[Sample], sort: &str, limit: u32) -> Vec<Sample> {
    let (mut all, mut token) = (Vec::new(), None);
    loop {
        let (page, next) = page(rows, sort, limit, token);
        assert!(page.len() <= limit as usize);
        assert!(next.is_none() || page.len() == limit as usize);
        all.extend(page);
        token = next;
        match &token {
            Some(token) => assert!(token.len() <= crate::limits::PAGE_TOKEN_MAX),
            None => return all,
        }
    }
}

/// The rule as words have it: nulls last, texts by their first bytes without ASCII case, then the id.
fn sorted(mut rows: Vec<Sample>, sort: &str) -> Vec<Sample> {
    use std::cmp::Ordering;
    let order = order(sort);
    let bytes = SORT_TEXT_BYTES / order.0.len();
    let start =
        |text: &str| text.to_ascii_lowercase().into_bytes()[..text.len().min(bytes)].to_vec();
    rows.sort_by(|a, b| {
        for by in &order.0 {
            let (left, right) = (a.cell(by.column), b.cell(by.column));
            let ordering = match (left, right) {
                (Cell::Null, Cell::Null) => Ordering::Equal,
                (Cell::Null, _) => return Ordering::Greater,
                (_, Cell::Null) => return Ordering::Less,
                (Cell::Text(left), Cell::Text(right)) => start(left).cmp(&start(right)),
                (Cell::Number(left), Cell::Number(right)) => left.total_cmp(&right),
                (Cell::Int(left), Cell::Int(right)) => left.cmp(&right),
                (Cell::Bool(left), Cell::Bool(right)) => left.cmp(&right),
                (Cell::Time(left), Cell::Time(right)) => left.cmp(&right),
                (left, right) => panic!("{left:?} beside {right:?}"),
            };
            let ordering = if by.descending {
                ordering.reverse()
            } else {
                ordering
            };
            if ordering.is_ne() {
                return ordering;
            }
        }
        a.id.cmp(&b.id)
    });
    rows
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let text = prop_oneof!["[aAbB]{0,3}", "a{30,34}[ab]ä{0,40}", "\\PC{0,20}",];
    let number = prop_oneof![Just(-0.5), Just(0.0), Just(1.5), -100.0..100.0];
    (
        prop::option::of(text),
        prop::option::of(number),
        -2_i64..3,
        any::<bool>(),
        prop::option::of(-3_i64..3),
    )
        .prop_map(|(text, number, count, flag, time)| Sample {
            id: String::new(),
            text,
            number,
            count,
            flag,
            time: time.map(Timestamp::from_unix_seconds),
        })
}

fn any_sort() -> impl Strategy<Value = String> {
    let column = (any::<bool>(), 0..Sample::COLUMNS.len()).prop_map(|(descending, column)| {
        let sign = if descending { "-" } else { "" };
        format!("{sign}{}", Sample::COLUMNS[column].name)
    });
    prop::collection::vec(column, 1..=3).prop_map(|columns| columns.join(","))
}

proptest! {
    #[test]
    fn walk_over_pages_of_any_size_is_the_sorted_list(
        mut rows in prop::collection::vec(any_sample(), 0..60),
        sort in any_sort(),
    ) {
        for (index, row) in rows.iter_mut().enumerate() {
            row.id = format!("{}{index}", if index % 3 == 0 { "Ws-" } else { "ws-" });
        }
        let expected = sorted(rows.clone(), &sort);
        for limit in [1, 7, 500] {
            prop_assert_eq!(&walk(&rows, &sort, limit), &expected, "{} by {}", sort, limit);
        }
    }

    #[test]
    fn walk_shows_a_row_that_stays_once_whatever_comes_and_goes(
        mut rows in prop::collection::vec(any_sample(), 1..40),
        sort in any_sort(),
        changes in prop::collection::vec((any::<bool>(), any_sample()), 40),
    ) {
        for (index, row) in rows.iter_mut().enumerate() {
            row.id = format!("ws-{index}");
        }
        let staying: Vec<Sample> = rows.iter().step_by(2).cloned().collect();
        let (mut all, mut token) = (Vec::new(), None);
        for (index, (removes, mut added)) in changes.into_iter().enumerate() {
            let (shown, next) = page(&rows, &sort, 2, token);
            all.extend(shown);
            token = next;
            if token.is_none() {
                break;
            }
            if removes {
                rows.retain(|row| staying.contains(row) || row.id.len() % 2 == index % 2);
            } else {
                added.id = format!("new-{index}");
                rows.push(added);
            }
        }
        if token.is_none() {
            for row in &staying {
                prop_assert_eq!(all.iter().filter(|shown| *shown == row).count(), 1);
            }
        }
    }
}

#[test]
fn page_in_the_order_of_ids_is_read_from_the_id_before_it_to_the_one_behind_it() {
    let ids = ["B", "a", "a\0", "a\u{1}", "a\u{10ffff}", "b", "ä"];
    assert!(ids.is_sorted());
    let (mut all, mut token) = (Vec::new(), None);
    loop {
        let paging = Paging {
            sort: None,
            limit: 3,
            next_token: token,
        };
        let order = Order::wanted(None, Sample::COLUMNS).unwrap();
        let mut picked = Picked::new(QUESTION, order, &paging).unwrap();
        let after = picked.begins_after();
        let mut offered = 0;
        for id in ids.into_iter().filter(|id| after.as_deref() < Some(*id)) {
            picked.offer(id, |_| Cell::Null, || id);
            offered += 1;
            if picked.is_complete() {
                break;
            }
        }
        let (page, next) = picked.finish();
        assert_eq!(offered, page.len() + usize::from(next.is_some()));
        all.extend(page);
        token = next;
        if token.is_none() {
            assert_eq!(all, ids);
            return;
        }
    }
}

#[test]
fn longest_places_fit_a_token() {
    let long = "\u{10ffff}".repeat(crate::limits::WORKSPACE_ID_MAX);
    let rows = ["a", "b"].map(|letter| Sample {
        id: format!("{}{letter}", &long[4..]),
        text: Some(long.clone()),
        number: Some(1.0),
        count: 0,
        flag: true,
        time: None,
    });
    for sort in ["text", "id", "-id,text", "id,-text,id"] {
        assert_eq!(walk(&rows, sort, 1), rows, "{sort}");
    }
}

#[test]
fn token_of_another_order_or_list_is_refused() {
    let rows = ["a", "b"].map(|id| Sample {
        id: id.to_owned(),
        text: None,
        number: None,
        count: 0,
        flag: true,
        time: None,
    });
    let (_, token) = page(&rows, "text,count", 1, None);
    let token = token.unwrap();
    let other = paging::token(List::Filtered, &"a".to_owned());
    for (sort, token) in [
        ("text", &token),
        ("-text,count", &token),
        ("count,text", &token),
        ("text,count,id", &token),
        ("text,count", &other),
        ("text,count", &String::new()),
        ("text,count", &"A".repeat(10_000)),
    ] {
        let paging = Paging {
            next_token: Some(token.clone()),
            ..Paging::default()
        };
        let refused = Picked::<Sample>::new(QUESTION, order(sort), &paging).unwrap_err();
        assert_eq!(refused.parameter(), Some("nextToken"), "{sort} {token}");
    }
}

#[test]
fn sort_by_an_unknown_column_names_the_nearest() {
    let refused = |sort: &str| {
        let error = Order::parse(sort, Sample::COLUMNS).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert_eq!(error.parameter(), Some("sort"));
        error.context().to_owned()
    };
    assert_eq!(
        refused("-nubmer"),
        "There is no column 'nubmer'. Did you mean 'number'?"
    );
    let all = "The columns are id, text, number, count, flag, time.";
    assert_eq!(
        refused("colour"),
        format!("There is no column 'colour'. {all}")
    );
    assert_eq!(
        refused("--id"),
        "There is no column '-id'. Did you mean 'id'?"
    );
    assert!(refused("id,").starts_with("There is no column ''."));
    assert_eq!(
        refused("id,id,id,id"),
        "At most 3 columns can be sorted by."
    );
    let deep = ",".repeat(100_000);
    assert_eq!(refused(&deep), "At most 3 columns can be sorted by.");
    assert_eq!(order("-ID,Text"), order("-id,text"));
}
