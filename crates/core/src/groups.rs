//! Which steps of a sequence run side by side, and whether they can.

use crate::arrival::{Arrival, ArrivalProcess};
use crate::pattern::Operation;
use crate::sequence::Group;
use crate::step::{Demand, OUTSTANDING_MAX, STREAMS_MAX, SequenceError, StepSpec};

/// A recording is that of the only step that replays one, whose single thread keeps its order.
pub(crate) fn check_replay(specs: &[StepSpec], recorded: bool) -> Result<(), SequenceError> {
    let replays = |spec: &StepSpec| spec.pattern.operation == Operation::Replay;
    let keeps_times = |arrival: Arrival| arrival.process == ArrivalProcess::Recorded;
    let other = |spec: &StepSpec| spec.demand.arrival.is_some_and(|arrival| keeps_times(arrival) != replays(spec));
    if let Some(step) = specs.iter().position(other) {
        return Err(SequenceError::Replay {
            step,
            reason: "recorded arrivals are those of a replay, which has no others",
        });
    }
    let mut found = specs.iter().enumerate().filter(|(_, spec)| replays(spec));
    let Some((step, first)) = found.next() else {
        return if recorded {
            Err(SequenceError::Replay { step: 0, reason: "no step replays the recording" })
        } else {
            Ok(())
        };
    };
    let alone = !first.beside && !specs.get(step + 1).is_some_and(|next| next.beside);
    let reason = if !recorded {
        "there is no recording"
    } else if found.next().is_some() {
        "one step of a sequence replays a recording"
    } else if first.demand.thread_count != 1 || !alone {
        "a recording is replayed by one thread, with no step beside it"
    } else {
        return Ok(());
    };
    Err(SequenceError::Replay { step, reason })
}

/// The groups of a sequence: each step with those that run beside it.
pub(crate) fn groups(specs: &[StepSpec]) -> Result<Vec<Group>, SequenceError> {
    let mut groups: Vec<Group> = Vec::new();
    for (step, spec) in specs.iter().enumerate() {
        match groups.last_mut().filter(|_| spec.beside) {
            Some(group) => {
                group.count += 1;
                check_group(&specs[group.steps()]).map_err(|reason| SequenceError::Beside { step, reason })?;
            }
            None if spec.beside => {
                return Err(SequenceError::Beside { step, reason: "the first step has none to run beside" });
            }
            None => groups.push(Group { first: step, count: 1 }),
        }
    }
    Ok(groups)
}

fn check_group(specs: &[StepSpec]) -> Result<(), &'static str> {
    let outstanding: u64 = specs.iter().map(|spec| spec.demand.total()).sum();
    if specs.len() > STREAMS_MAX {
        Err("at most 64 steps run side by side")
    } else if specs.iter().any(|spec| spec.stop != specs[0].stop) {
        Err("steps that run side by side have one stop rule")
    } else if specs.iter().any(|spec| spec.demand == Demand::IDLE) {
        Err("an idle step runs alone")
    } else if outstanding > OUTSTANDING_MAX {
        Err("together they keep more than 65,536 I/Os outstanding")
    } else {
        Ok(())
    }
}

/// Whether a group goes on with what the one before does.
pub(crate) fn continues(group: &[StepSpec], before: &[StepSpec]) -> bool {
    group.len() == before.len() && group.iter().zip(before).all(|(step, before)| step.continues(before))
}
