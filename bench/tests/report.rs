//! `bench report` as it is called: the page and the CSV files of a tiny run, and folders that can't be written.

mod called;

use std::fs;

use called::{bench, text};

const PARTS: [&str; 7] = ["replay", "flatmap", "lhash", "growth", "sync", "scaling", "seeds"];
const TABLES: [&str; 13] = [
    "lhash",
    "papaya",
    "scc",
    "scc-index",
    "dashmap",
    "flurry",
    "rwlock-hashbrown",
    "flatmap",
    "flatmap-huge",
    "dynahash",
    "latchfree",
    "parking_lot",
    "memory_chain",
];

#[test]
fn a_tiny_run_makes_one_page_and_all_tables() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("new");
    let output = bench("report", &["--tiny", "--out", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).trim_end(), folder.join("report.html").to_str().unwrap());

    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for table in TABLES {
        assert!(page.contains(&format!(">{table}<")), "{table} is in a table");
    }
    for part in
        ["width=device-width", "prefers-color-scheme: dark", "machine: ", "papaya 0.", "Where we lose"]
    {
        assert!(page.contains(part), "{part}");
    }
    for outside in ["<script", "<link", "<img", "url(", "@import"] {
        assert!(!page.contains(outside), "the page is self-contained, but has {outside}");
    }
    let charts = page.matches("<svg").count();
    assert!(charts > 50 && charts == page.matches("</svg>").count(), "{charts} charts");
    assert!(page.contains("percentiles of inserts") && page.contains("bytes while it grows"));

    for part in PARTS {
        assert!(page.contains(&format!("<code>bench {part} ")), "{part}");
        let csv = fs::read_to_string(folder.join(format!("{part}.csv"))).unwrap();
        // Where nobody may trace, nothing is counted, and the page says why.
        let is_missing = part == "scaling" && page.contains("ptrace");
        assert!(csv.lines().count() > 1 || is_missing, "{part}");
    }
    let lhash = fs::read_to_string(folder.join("lhash.csv")).unwrap();
    assert!(
        lhash.lines().next().is_some_and(|header| header.contains("ns_low") && header.contains("ns_high"))
    );
    let mut files: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    assert_eq!(
        files,
        [
            "flatmap.csv",
            "growth-series.csv",
            "growth.csv",
            "lhash.csv",
            "replay.csv",
            "report.html",
            "scaling.csv",
            "seeds.csv",
            "sync.csv"
        ]
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_anything_is_measured() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("file");
    fs::write(&file, b"").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let output = bench("report", &["--quick", "--out", folder.to_str().unwrap()]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
        assert!(said.starts_with(&format!("error: {} can't be written: ", folder.display())), "{said}");
    }
    assert!(called::mistake("report", &[]).contains("--out"));
}
