// Writes records for `goldrank eval records.jsonl`: one line for each question. With serde_json, derive Serialize instead.
use std::fs::File;
use std::io::{BufWriter, Result, Write};

fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            letter if letter < ' ' => json.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => json.push(letter),
        }
    }
    json + "\""
}

fn record(id: &str, retrieved: &[(&str, f64)], expected: &[&str]) -> String {
    let documents: Vec<String> = retrieved
        .iter()
        .map(|(id, score)| format!("{{\"id\":{},\"score\":{}}}", quoted(id), score))
        .collect();
    let expected: Vec<String> = expected.iter().map(|id| quoted(id)).collect();
    format!(
        "{{\"id\":{},\"retrieved\":[{}],\"expected_ids\":[{}]}}",
        quoted(id),
        documents.join(","),
        expected.join(",")
    )
}

fn main() -> Result<()> {
    let mut file = BufWriter::new(File::create("records.jsonl")?);
    writeln!(file, "{}", record("q1", &[("d3", 12.5), ("d1", 9.1)], &["d1"]))?;
    writeln!(file, "{}", record("q2", &[("d7", 3.0)], &["d2"]))?;
    file.flush()
}
