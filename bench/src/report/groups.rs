//! Rows that were compared with each other, and who was faster.

use super::rows::{Row, Rows, number, text};

/// The columns that tell rows of one group from another's.
const KEYS: [&str; 12] =
    ["mode", "op", "how", "what", "kind", "slots", "entries", "dist", "key", "threads", "read_pct", "policy"];
/// The columns that a bar is named by, beside its table.
const NAMED_BY: [&str; 2] = ["batch", "resizing"];
/// Not contestants: the bare memory, one without a lock, a lock that does nothing.
const FLOORS: [&str; 4] = ["memory_chain", "memory_independent", "hashbrown", "control"];

/// One row of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The table or lock.
    pub name: String,
    /// The time of an operation.
    pub ns: f64,
    /// Between which it lies.
    pub interval: Option<(f64, f64)>,
    /// Is it one of ours?
    pub is_ours: bool,
    /// Is it compared with others: neither a floor nor something else than they do?
    pub is_compared: bool,
}

/// Rows that were compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub title: String,
    /// The rows.
    pub bars: Vec<Bar>,
}

impl Group {
    /// Our fastest, and the fastest of the others.
    #[must_use]
    pub fn best(&self) -> Option<(&Bar, &Bar)> {
        let best = |is_ours: bool| {
            let bars = self.bars.iter().filter(|bar| bar.is_compared && bar.is_ours == is_ours);
            bars.min_by(|a, b| a.ns.total_cmp(&b.ns))
        };
        Some((best(true)?, best(false)?))
    }

    /// By whom ours are beaten, and how many times their time ours take.
    #[must_use]
    pub fn lost_to(&self) -> Option<(&Bar, f64)> {
        let (ours, peer) = self.best()?;
        (peer.ns < ours.ns).then(|| (peer, ours.ns / peer.ns))
    }
}

/// The groups of a table's rows, in the order of their first rows.
#[must_use]
pub fn groups(rows: &Rows) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for row in &rows.rows {
        let Some(bar) = bar(row) else { continue };
        let title = title(row);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.bars.push(bar),
            None => groups.push(Group { title, bars: vec![bar] }),
        }
    }
    groups
}

fn title(row: &Row) -> String {
    // A counter that is read in one manner is compared with those read in the other.
    let is_shown = |name: &&str| !(*name == "kind" && text(row, "what") != "seqlock_read");
    let part = |name: &str| {
        let value = text(row, name);
        // Batches of lookups are compared with single ones.
        let value = if value == "hit_batch" { "hit".to_owned() } else { value };
        match name {
            "op" | "what" | "how" | "kind" => value,
            _ => format!("{name} {value}"),
        }
    };
    let shown = KEYS.iter().copied().filter(|name| is_shown(name) && !text(row, name).is_empty());
    shown.map(part).collect::<Vec<_>>().join(", ")
}

fn bar(row: &Row) -> Option<Bar> {
    let ns = number(row, "ns_median").or_else(|| number(row, "ns_per_op"))?;
    let table = [text(row, "table"), text(row, "impl")].concat();
    // A batch or a table that is resized is not what others are compared with.
    let is_plain = text(row, "op") != "hit_batch" && text(row, "resizing") != "true";
    let is_ours = ["flatmap", "lhash", "latchfree"].iter().any(|name| table.starts_with(name));
    let is_peer = !FLOORS.contains(&table.as_str());
    let mut name = table;
    for by in NAMED_BY {
        match text(row, by).as_str() {
            "" | "false" | "0" | "1" => {}
            "true" => name.push_str(&format!(", {by}")),
            value => name.push_str(&format!(", {by} {value}")),
        }
    }
    if text(row, "what") != "seqlock_read" && !text(row, "kind").is_empty() {
        name.push_str(&format!(", {}", text(row, "kind")));
    }
    let interval = number(row, "ns_low").zip(number(row, "ns_high"));
    Some(Bar { name, ns, interval, is_ours, is_compared: is_plain && (is_ours || is_peer) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Rows, groups};

    #[test]
    fn rows_are_grouped_and_losses_are_found() {
        let row = |table: &str, op: &str, ns: f64| {
            let row =
                json!({ "table": table, "op": op, "threads": 2, "ns_median": ns, "ns_low": 1, "ns_high": 9 });
            row.as_object().unwrap().clone()
        };
        let rows = Rows::new(vec![
            row("lhash", "get_hit", 20.0),
            row("papaya", "get_hit", 10.0),
            row("memory_chain", "get_hit", 1.0),
            row("lhash", "insert", 5.0),
            row("papaya", "insert", 6.0),
        ]);
        let groups = groups(&rows);
        assert_eq!(
            groups.iter().map(|group| group.title.as_str()).collect::<Vec<_>>(),
            ["get_hit, threads 2", "insert, threads 2"]
        );
        let (peer, times) = groups[0].lost_to().unwrap();
        assert_eq!((peer.name.as_str(), times), ("papaya", 2.0));
        assert_eq!(groups[0].bars[0].interval, Some((1.0, 9.0)));
        assert_eq!(groups[1].lost_to(), None);
    }
}
