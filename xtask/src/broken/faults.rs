//! The faults: a piece of text that a file has once, what takes its place, and the model that has to fail then.

use crate::shell::Failure;

/// One fault.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// What goes wrong.
    pub(super) what: &'static str,
    pub(super) path: &'static str,
    from: &'static str,
    to: &'static str,
    /// The loom model that shows it, of the crate that `path` lies in.
    pub(super) model: &'static str,
}

impl Fault {
    pub(super) fn krate(&self) -> &'static str {
        self.path.split_once('/').map_or(self.path, |(krate, _)| krate)
    }

    /// The file's text with the fault in it.
    pub(super) fn apply(&self, text: &str) -> Result<String, Failure> {
        match text.matches(self.from).count() {
            1 => Ok(text.replacen(self.from, self.to, 1)),
            count => Err(Failure::new(format!(
                "{}: what it replaces is {count} times in {}, not once",
                self.name, self.path
            ))),
        }
    }
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "flatmap-no-fence",
        what: "a lookup validates without its fence",
        path: "flatmap/src/bucket.rs",
        from: "        fence(Ordering::Acquire);\n",
        to: "",
        model: "reuse::a_stable_key_is_never_missed_while_a_slot_moves_to_another_bucket",
    },
    Fault {
        name: "flatmap-not-validated",
        what: "a miss is final though its head has changed",
        path: "flatmap/src/bucket.rs",
        from: "Walk::Miss => self.is_unchanged(start) && !head",
        to: "Walk::Miss => !head",
        model: "reuse::a_stable_key_is_never_missed_while_a_slot_moves_to_another_bucket",
    },
    Fault {
        name: "flatmap-hit-not-validated",
        what: "a hit is final though its head has changed",
        path: "flatmap/src/bucket.rs",
        from: "Walk::Hit(_) => self.is_unchanged(start),",
        to: "Walk::Hit(_) => true,",
        model: "reuse::a_mix_of_the_old_and_the_new_key_is_never_found",
    },
    Fault {
        name: "flatmap-same-stamp",
        what: "a remove leaves the stamp as it was",
        path: "flatmap/src/bucket.rs",
        from: "        self.set_head(bucket, head.followed_by(first));\n        entry.free();",
        to: "        self.set_head(bucket, Head(head.followed_by(first).0 - (1 << Head::STAMP_SHIFT)));\n        entry.free();",
        model: "reuse::a_key_behind_a_slot_that_leaves_in_mid_chain_is_never_missed",
    },
    Fault {
        name: "flatmap-freed-before-stamp",
        what: "a remove frees the slot before it raises the stamp",
        path: "flatmap/src/bucket.rs",
        from: "        self.set_head(bucket, head.followed_by(first));\n        entry.free();",
        to: "        entry.free();\n        self.set_head(bucket, head.followed_by(first));",
        model: "reuse::a_slot_freed_by_one_thread_and_claimed_by_another_misleads_no_reader",
    },
    Fault {
        name: "flatmap-published-before-words",
        what: "an insert publishes an entry before its words",
        path: "flatmap/src/bucket.rs",
        from: "        entry.prepare(key, head.first());\n        self.set_head(bucket, head.followed_by(Some(slot)));",
        to: "        self.set_head(bucket, head.followed_by(Some(slot)));\n        entry.prepare(key, head.first());",
        model: "lookup::a_stable_key_behind_an_insert_is_never_missed",
    },
    Fault {
        name: "flatmap-split-without-marks",
        what: "a split moves entries while its heads look quiet",
        path: "flatmap/src/bucket.rs",
        from: "        self.set_head(parent, self.head_locked(parent).filling());\n        self.set_head(child, self.head_locked(child).filling());\n        self.geometry.set(after);\n        let (mut stay",
        to: "        self.geometry.set(after);\n        let (mut stay",
        model: "resize::a_key_that_a_split_moves_is_found_throughout",
    },
    Fault {
        name: "flatmap-geometry-not-validated",
        what: "a miss is final though the geometry has changed",
        path: "flatmap/src/bucket.rs",
        from: " && !head.is_filling() && self.geometry.is_still(geometry),",
        to: " && !head.is_filling(),",
        model: "resize::a_key_that_a_split_moves_is_found_throughout",
    },
    Fault {
        name: "flatmap-merge-forgets-the-child",
        what: "a merge leads the parent's last entry nowhere",
        path: "flatmap/src/bucket.rs",
        from: "            Some((_, _, last)) if second.is_some() => last.lead_to(second),\n",
        to: "",
        model: "resize::a_key_that_a_merge_moves_is_found_throughout",
    },
    Fault {
        name: "lhash-split-publishes-late",
        what: "a split unlocks its buckets before it publishes the geometry",
        path: "lhash/src/split.rs",
        from: "        self.set_geometry(after);\n        let number = after.max_bucket();\n        observer.split(\n            (parent(number), self.held_entries(from.page, from.control, pin)),\n            (number, self.held_entries(to.page, to.control, pin)),\n        );\n        to.release();\n        from.release();\n",
        to: "        let number = after.max_bucket();\n        observer.split(\n            (parent(number), self.held_entries(from.page, from.control, pin)),\n            (number, self.held_entries(to.page, to.control, pin)),\n        );\n        to.release();\n        from.release();\n        self.set_geometry(after);\n",
        model: "splits::a_key_that_moves_is_never_missed",
    },
    Fault {
        name: "lhash-split-without-marks",
        what: "a split moves entries while its buckets look quiet",
        path: "lhash/src/split.rs",
        from: "        from.set(from.control.moving());\n        to.set(to.control.moving());\n        self.append_pages(&mut to, spare, pin);\n        let moving = self.held_slots(&from, pin).map(Slot::load_held).filter(|&word|",
        to: "        self.append_pages(&mut to, spare, pin);\n        let moving = self.held_slots(&from, pin).map(Slot::load_held).filter(|&word|",
        model: "splits::a_key_that_moves_is_never_missed",
    },
    Fault {
        name: "lhash-merge-without-marks",
        what: "a merge moves entries while its buckets look quiet",
        path: "lhash/src/split.rs",
        from: "        from.set(from.control.moving());\n        to.set(to.control.moving());\n        self.append_pages(&mut to, spare, pin);\n        self.set_hint",
        to: "        self.append_pages(&mut to, spare, pin);\n        self.set_hint",
        model: "merges::a_key_that_moves_is_never_missed",
    },
    Fault {
        name: "lhash-same-stamp",
        what: "an insert unlocks its bucket with the same stamp",
        path: "lhash/src/table.rs",
        from: "bucket.page.set_control(control.changed());\n                Ok(added_page)",
        to: "bucket.page.set_control(control.untouched());\n                Ok(added_page)",
        model: "entries::two_inserters_of_one_key_make_one_entry",
    },
    Fault {
        name: "lhash-geometry-not-validated",
        what: "a miss is final though the geometry has changed",
        path: "lhash/src/table.rs",
        from: "bucket.seen.is_same_version(bucket.page.control_again()) && self.is_still(bucket.geometry)",
        to: "bucket.seen.is_same_version(bucket.page.control_again())",
        model: "splits::a_key_that_moves_is_never_missed",
    },
    Fault {
        name: "lhash-partner-not-looked-at",
        what: "a lookup in a moving bucket does not look where its entries go",
        path: "lhash/src/lookup.rs",
        from: "[Some(bucket.page), partner, Some(bucket.page), partner].into_iter()",
        to: "[Some(bucket.page), partner.filter(|_| false)].into_iter()",
        model: "splits::a_key_that_moves_is_never_missed",
    },
    Fault {
        name: "lhash-split-clears-first",
        what: "a split clears entries where they were before it publishes them where they go",
        path: "lhash/src/split.rs",
        from: "        self.fill(&to, moving, pin);\n        for slot in self.held_slots(&from, pin) {\n            if goes(slot.load_held()) {\n                slot.store(SlotWord::EMPTY);\n            }\n        }\n",
        to: "        let moving: Vec<SlotWord> = moving.collect();\n        for slot in self.held_slots(&from, pin) {\n            if goes(slot.load_held()) {\n                slot.store(SlotWord::EMPTY);\n            }\n        }\n        self.fill(&to, moving.into_iter(), pin);\n",
        model: "splits::a_key_that_moves_is_never_missed",
    },
    Fault {
        name: "lhash-told-before-sync",
        what: "the leader of a group commit tells of what is not on the disk yet",
        path: "lhash/src/redo/commit.rs",
        from: "            self.lead(&mut writer, &sync)?;\n            writer.set_progress(end);\n",
        to: "            writer.set_progress(end);\n            self.lead(&mut writer, &sync)?;\n",
        model: "commit::whoever_waits_is_told_once_it_is_on_the_disk",
    },
    Fault {
        name: "lhash-no-next-leader",
        what: "who has waited for a leader believes that it has written all",
        path: "lhash/src/redo/commit.rs",
        from: "let Some(mut writer) = self.writer.write_or_wait() else { continue };",
        to: "let Some(mut writer) = self.writer.write_or_wait() else { return Ok(()) };",
        model: "commit::whoever_waits_is_told_once_it_is_on_the_disk",
    },
    Fault {
        name: "lhash-leader-stays",
        what: "the leader of a group commit lets nobody lead after it",
        path: "lhash/src/redo/commit.rs",
        from: "            writer.set_progress(end);\n",
        to: "            writer.set_progress(end);\n            core::mem::forget(writer);\n",
        model: "commit::whoever_waits_is_told_once_it_is_on_the_disk",
    },
    Fault {
        name: "lhash-failure-forgotten",
        what: "the next leader tries a failed sync again",
        path: "lhash/src/redo/commit.rs",
        from: "        step(writer).map_err(|error| self.failed.get_or_init(|| error).clone())",
        to: "        step(writer)",
        model: "commit::a_failure_is_told_to_all_whom_it_covers",
    },
    Fault {
        name: "sync-fold-outside-the-lock",
        what: "a shard is folded into the base after the lock was let go",
        path: "sync/src/counter.rs",
        from: "        if folding.is_some() {",
        to: "        let turn = folding.is_some();\n        drop(folding);\n        if turn {",
        model: "counts::folds_of_two_shards_keep_both",
    },
    Fault {
        name: "sync-sum-beside-a-fold",
        what: "a sum does not wait for a fold under way",
        path: "sync/src/counter.rs",
        from: "        let _nobody_folds = self.folding.read();\n",
        to: "",
        model: "counts::a_sum_beside_a_fold_counts_nothing_twice",
    },
    Fault {
        name: "sync-count-without-a-mark",
        what: "a deferred count is left in its slot without a mark",
        path: "sync/src/slots.rs",
        from: "                if before == 0 && n != 0 {\n                    self.mark(index);\n                }\n                Left::Pending",
        to: "                let _ = before;\n                Left::Pending",
        model: "counts::two_updates_count_both_and_the_next_one_alone_is_exact",
    },
    Fault {
        name: "sync-cap-exceeded",
        what: "a slot at its cap takes one more",
        path: "sync/src/slots.rs",
        from: "if sum.unsigned_abs() > u64::from(cap) {",
        to: "if sum.unsigned_abs() > u64::from(cap) + 1 {",
        model: "counts::an_update_at_the_cap_waits_for_the_holder",
    },
    Fault {
        name: "sync-progress-untold",
        what: "a change of progress wakes nobody",
        path: "sync/src/progress.rs",
        from: "        self.lock.lock.raw().tell_progress(progress);\n",
        to: "",
        model: "progress::a_change_is_not_missed_while_the_holder_keeps_the_lock",
    },
    Fault {
        name: "sync-release-wakes-nobody",
        what: "the last reader leaves without a look at the queue",
        path: "sync/src/lwlock/raw.rs",
        from: "        if before.readers() == 1 && before.needs_wake() {\n            self.settle_now(Giving::Nothing);\n        }\n",
        to: "        let _ = before;\n",
        model: "classes::a_shared_holder_forgets_neither_of_two_waiters",
    },
    Fault {
        name: "sync-writer-beside-readers",
        what: "a downgrade lets the next writer in too early",
        path: "sync/src/lwlock/raw.rs",
        from: "let shared = state.without_writer().taken(Mode::Shared);",
        to: "let shared = state.without_writer();",
        model: "downgrade::no_writer_gets_in_before_a_downgraded_hold_ends",
    },
    Fault {
        name: "sync-no-odd-window",
        what: "a reader of a sequence lock reads while the stamp is odd",
        path: "sync/src/seqlock/stamp.rs",
        from: "(stamp % 2 == 0).then_some(Seen(stamp))",
        to: "Some(Seen(stamp))",
        model: "seqlock::a_reader_gets_one_value_or_the_other_and_never_a_mix",
    },
    Fault {
        name: "sync-seqlock-not-validated",
        what: "a reader of a sequence lock believes what it copied",
        path: "sync/src/seqlock.rs",
        from: "self.stamp.validate(seen).then_some(value)",
        to: "let _ = seen;\n        Some(value)",
        model: "seqlock::a_reader_gets_one_value_or_the_other_and_never_a_mix",
    },
];

#[cfg(test)]
mod tests {
    use super::FAULTS;
    use crate::models::LOOM;
    use crate::tree::Tree;

    #[test]
    fn every_fault_fits_the_code_and_names_a_model() {
        let tree = Tree::find().expect("the tests run in the workspace");
        for (index, fault) in FAULTS.iter().enumerate() {
            let text = tree.read(fault.path).expect("the file is there");
            let broken = fault.apply(&text).unwrap_or_else(|failure| panic!("{failure}"));
            assert_ne!(broken, text, "{}", fault.name);
            assert!(FAULTS[..index].iter().all(|other| other.name != fault.name), "{} twice", fault.name);
            let (module, test) = fault.model.rsplit_once("::").expect("a model's name has its module");
            let files = LOOM.model_files(&tree, fault.krate()).expect("the crate has models");
            let file = files.iter().find(|path| path.ends_with(&format!("/{module}.rs")));
            let models = tree.read(file.unwrap_or_else(|| panic!("{}: no module {module}", fault.name)));
            let name = format!("fn {test}()");
            assert!(models.expect("it can be read").contains(&name), "{}: no model {test}", fault.name);
        }
    }
}
