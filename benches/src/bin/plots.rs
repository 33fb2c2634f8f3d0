//! Draws the figures that the benches saved with `--save` in `benches/plots`: `cargo run -p deskfleet-benches --bin
//! plots`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use plotters::prelude::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plots");
const SIZE: (u32, u32) = (720, 360);
const FONT: (&str, u32) = ("sans-serif", 14);
const TITLE: (&str, u32) = ("sans-serif", 16);
const MIB: f64 = 1_048_576.0;
/// Of the bars of one server, in the order of the clients.
const BARS: [RGBColor; 3] = [
    RGBColor(31, 119, 180),
    RGBColor(174, 199, 232),
    RGBColor(120, 120, 120),
];

type Drawn = Result<(), Box<dyn Error>>;

fn main() -> Drawn {
    let folder = Path::new(FOLDER);
    draw(folder, "server", servers)?;
    draw(folder, "tail", tail)?;
    draw(folder, "soak", soak)
}

/// Draws the table of that name, if it exists.
fn draw(folder: &Path, name: &str, plot: fn(&[Vec<String>], &PathBuf) -> Drawn) -> Drawn {
    let Ok(text) = fs::read_to_string(folder.join(format!("{name}.csv"))) else {
        return Ok(());
    };
    let rows: Vec<Vec<String>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    plot(&rows, &folder.join(format!("{name}.svg")))
}

fn number(row: &[String], column: usize) -> Result<f64, Box<dyn Error>> {
    Ok(row.get(column).ok_or("a short line")?.parse()?)
}

/// Requests a second by server, a bar for each number of clients.
fn servers(rows: &[Vec<String>], file: &PathBuf) -> Drawn {
    let mut names: Vec<&str> = Vec::new();
    let mut by_clients: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    let mut top = 0.0_f64;
    for row in rows {
        let [name, clients, ..] = row.as_slice() else {
            return Err("a short line".into());
        };
        let place = names.iter().position(|known| known == name);
        let place = place.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let rate = number(row, 2)?;
        top = top.max(rate);
        let place = f64::from(u32::try_from(place)?);
        by_clients
            .entry(clients.parse()?)
            .or_default()
            .push((place, rate));
    }
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let right = f64::from(u32::try_from(names.len())?);
    let mut chart = ChartBuilder::on(&root)
        .caption("posts a second", TITLE)
        .margin(12)
        .x_label_area_size(28)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..right, 0.0..top * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(WHITE)
        .label_style(FONT)
        .y_label_formatter(&|rate| format!("{rate:.0}"))
        .draw()?;
    let width = 0.8 / f64::from(u32::try_from(by_clients.len())?);
    for ((index, (clients, bars)), color) in (0_u32..).zip(&by_clients).zip(BARS) {
        let shift = 0.1 + f64::from(index) * width;
        let bars = bars.iter().map(|(place, rate)| {
            let left = place + shift;
            Rectangle::new([(left, 0.0), (left + width * 0.92, *rate)], color.filled())
        });
        chart
            .draw_series(bars)?
            .label(format!("{clients} clients"))
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .label_font(FONT)
        .border_style(WHITE)
        .draw()?;
    let bottom = i32::try_from(SIZE.1)? - 28;
    for (name, place) in names.iter().zip(0_u32..) {
        let x = chart.backend_coord(&(f64::from(place) + 0.1, 0.0)).0;
        root.draw(&Text::new((*name).to_owned(), (x, bottom), FONT))?;
    }
    root.present()?;
    Ok(())
}

/// The lines of [`tail`]: server, column, name, color.
const LATENCIES: [(&str, usize, &str, RGBColor); 4] = [
    ("deskfleet", 5, "longest", RGBColor(214, 39, 40)),
    ("deskfleet", 4, "99 %", RGBColor(31, 119, 180)),
    ("deskfleet", 3, "median", RGBColor(174, 199, 232)),
    ("log-preallocated", 4, "99 %, log", RGBColor(120, 120, 120)),
];

/// Latencies by second, on a logarithmic scale.
fn tail(rows: &[Vec<String>], file: &PathBuf) -> Drawn {
    let mut lines = Vec::new();
    let (mut seconds, mut least, mut most) = (0.0_f64, f64::MAX, 0.0_f64);
    for (server, column, name, color) in LATENCIES {
        let mut points = Vec::new();
        for row in rows
            .iter()
            .filter(|row| row.first().is_some_and(|first| first == server))
        {
            let (second, ms) = (number(row, 1)?, number(row, column)? / 1000.0);
            // A second without a response has no latency.
            if ms > 0.0 {
                seconds = seconds.max(second);
                least = least.min(ms);
                most = most.max(ms);
                points.push((second, ms));
            }
        }
        lines.push((points, name, color));
    }
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("milliseconds that a post takes, by second", TITLE)
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(60)
        // The legend is above the lines.
        .build_cartesian_2d(1.0..seconds, (least / 1.2..most * 8.0).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .label_style(FONT)
        .x_label_formatter(&|second| format!("{second:.0}"))
        .y_label_formatter(&|ms| format!("{ms}"))
        .draw()?;
    for (points, name, color) in lines {
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 2), (x + 12, y + 1)], color.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .label_font(FONT)
        .background_style(WHITE)
        .border_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}

/// The file's size by simulated day.
fn soak(rows: &[Vec<String>], file: &PathBuf) -> Drawn {
    let mut points = Vec::new();
    for row in rows {
        points.push((number(row, 0)?, number(row, 1)? / MIB));
    }
    let days = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let top = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("MiB of file by day, 30 days kept", TITLE)
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..days, 0.0..top * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .label_style(FONT)
        .x_label_formatter(&|day| format!("{day:.0}"))
        .y_label_formatter(&|size| format!("{size:.0}"))
        .draw()?;
    let [color, ..] = BARS;
    chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
    root.present()?;
    Ok(())
}
