//! The checker of histories: that of `todc-utils` (Wing and Gong 1993, Lowe 2017), fed with times. lhash's tests
//! include it, by a link to this file.

use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::Action::{Call, Response};
use todc_utils::linearizability::history::History;
use todc_utils::specifications::Specification;

/// What a specification returns of a step: whether it can be, and the state after it.
pub(crate) fn applied<T: Clone>(next: Option<T>, state: &T) -> (bool, T) {
    let valid = next.is_some();
    (valid, next.unwrap_or_else(|| state.clone()))
}

/// Whether some order of the operations, each at one moment between its call and its end, explains them all.
/// Of two times that are equal, the call comes first: the operations overlap.
pub(crate) fn is_linearizable<S: Specification>(steps: &[(S::Operation, u64, u64)]) -> bool {
    let mut actions = Vec::new();
    for (process, (step, call, end)) in steps.iter().enumerate() {
        actions.push((*call, 0, process, Call(step.clone())));
        actions.push((*end, 1, process, Response(step.clone())));
    }
    actions.sort_by_key(|(time, order, process, _)| (*time, *order, *process));
    let actions: Vec<_> = actions.into_iter().map(|(.., process, action)| (process, action)).collect();
    actions.is_empty() || WGLChecker::<S>::is_linearizable(History::from_actions(actions))
}
