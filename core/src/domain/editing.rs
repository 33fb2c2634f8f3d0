//! The changes that an import or a put may not make.

use crate::model::identity::folded;
use crate::model::{State, Workspace};

/// Why a record is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditRefusal {
    /// An action is changing the state.
    StateInTransition,
    /// The workspace is on hold, and this field identifies it.
    IdentityUnderHold(&'static str),
    /// The workspace is on hold, and its state would become TERMINATED.
    TerminationUnderHold,
}

/// Why `new` may not replace `old`; `None` if it may. `in_transition`: an action is changing the state of `old`.
pub(crate) fn refusal(
    old: &Workspace,
    new: &Workspace,
    held: bool,
    in_transition: bool,
) -> Option<EditRefusal> {
    let state_changes = old.state != new.state;
    if in_transition && state_changes {
        return Some(EditRefusal::StateInTransition);
    }
    if !held {
        return None;
    }
    let identity = [
        ("username", &old.username, &new.username),
        ("computerName", &old.computer_name, &new.computer_name),
        ("directoryId", &old.directory_id, &new.directory_id),
    ];
    let changed = identity.into_iter().find(|(_, old, new)| {
        let [old, new] = [old, new].map(|name| name.as_deref().map(folded));
        old != new
    });
    if let Some((field, ..)) = changed {
        return Some(EditRefusal::IdentityUnderHold(field));
    }
    let terminates = new.state.as_deref().is_some_and(means_terminated);
    (state_changes && terminates).then_some(EditRefusal::TerminationUnderHold)
}

/// Whether a state is TERMINATED in any spelling: any case, letters of full width, other characters between the letters.
fn means_terminated(state: &str) -> bool {
    let narrow = |char| match char {
        '\u{ff21}'..='\u{ff5a}' => char::from_u32(u32::from(char) - 0xfee0).unwrap_or(char),
        _ => char,
    };
    let letters: String = state
        .chars()
        .map(narrow)
        .filter(|char| char.is_alphabetic())
        .collect();
    State::named(&folded(&letters)) == Some(State::Terminated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> Workspace {
        Workspace {
            id: "ws-1".into(),
            computer_name: Some("PC-1".into()),
            directory_id: Some("d-1".into()),
            username: Some("jdoe".into()),
            state: Some("AVAILABLE".into()),
            ..Workspace::default()
        }
    }

    /// Every field changed alone, in each of the four situations.
    #[test]
    fn every_field_in_every_situation() {
        let names = Workspace::FIELDS.into_iter().enumerate().skip(1);
        for ((index, name), new) in names
            .flat_map(|field| [Some("other"), Some("TERMINATED"), None].map(|new| (field, new)))
        {
            let mut values = desk().values().map(|value| value.map(str::to_owned));
            let changes = values[index].as_deref() != new;
            values[index] = new.map(str::to_owned);
            let changed = Workspace::of_values(values.each_ref().map(Option::as_deref));
            for (held, in_transition) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let expected = match name {
                    _ if !changes => None,
                    "state" if in_transition => Some(EditRefusal::StateInTransition),
                    "state" if held && new == Some("TERMINATED") => {
                        Some(EditRefusal::TerminationUnderHold)
                    }
                    "username" | "computerName" | "directoryId" if held => {
                        Some(EditRefusal::IdentityUnderHold(name))
                    }
                    _ => None,
                };
                assert_eq!(
                    refusal(&desk(), &changed, held, in_transition),
                    expected,
                    "{name} {new:?} {held} {in_transition}"
                );
            }
        }
    }

    #[test]
    fn identity_in_another_case_is_the_same() {
        let shouted = Workspace {
            username: Some("JDoe".into()),
            computer_name: Some("pc-1".into()),
            ..desk()
        };
        assert_eq!(refusal(&desk(), &shouted, true, false), None);
        let elsewhere = Workspace {
            username: Some("CORP\\jdoe".into()),
            ..desk()
        };
        let refused = Some(EditRefusal::IdentityUnderHold("username"));
        assert_eq!(refusal(&desk(), &elsewhere, true, false), refused);
    }

    #[test]
    fn held_workspace_becomes_terminated_in_no_spelling() {
        for state in [
            " TERMINATED",
            "terminated",
            "Terminated.",
            "TERMI_NATED",
            "\u{ff34}ERMINATED",
            "TERMINATED\u{200b}",
        ] {
            let new = Workspace {
                state: Some(state.into()),
                ..desk()
            };
            let refused = Some(EditRefusal::TerminationUnderHold);
            assert_eq!(refusal(&desk(), &new, true, false), refused, "{state:?}");
        }
        let new = Workspace {
            state: Some("TERMINATING".into()),
            ..desk()
        };
        assert_eq!(refusal(&desk(), &new, true, false), None);
    }

    #[test]
    fn held_terminated_workspace_may_be_written_again() {
        let terminated = Workspace {
            state: Some("TERMINATED".into()),
            ..desk()
        };
        assert_eq!(refusal(&terminated, &terminated, true, false), None);
    }
}
