//! Commands that wait for the arm, and which of them goes next.

use super::arm::Arm;
use super::geometry::Extent;

/// A command that the medium has to serve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// The host's slot; of a write that the buffer has answered it means nothing any more.
    pub(super) slot: u32,
    pub(super) writes: bool,
    /// A write that was done when it came into the buffer.
    pub(super) answered: bool,
    pub(super) bytes: u64,
    /// From when on the arm may take it.
    pub(super) ready: u64,
    pub(super) extent: Extent,
}

/// Served by the shortest positioning time first, less a credit for the time waited (aged SPTF); what has waited too
/// long goes before all others.
pub(super) struct Queue {
    commands: Vec<Command>,
    age_limit: u64,
    age_credit: f64,
}

impl Queue {
    /// A queue that never holds more than `count` commands, so that none allocates.
    pub(super) fn new(count: u32, age_limit: u64, age_credit: f64) -> Self {
        Self { commands: Vec::with_capacity(count as usize), age_limit, age_credit }
    }

    pub(super) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub(super) fn clear(&mut self) {
        self.commands.clear();
    }

    /// When the arm, free from `free_at` on, can take a command; `None` where none waits.
    #[inline]
    pub(super) fn next_start(&self, free_at: u64) -> Option<u64> {
        self.commands.iter().map(|command| command.ready).min().map(|ready| ready.max(free_at))
    }

    /// Take the command that is to be served from `at` on; `None` where none is ready.
    pub(super) fn take(&mut self, arm: &Arm, at: u64) -> Option<Command> {
        let index = self.overdue(at).or_else(|| self.nearest(arm, at))?;
        Some(self.commands.swap_remove(index))
    }

    /// The command that has waited longest, if longer than the age limit.
    fn overdue(&self, at: u64) -> Option<usize> {
        let oldest = (0..self.commands.len()).min_by_key(|index| self.order(*index))?;
        (at > self.commands[oldest].ready + self.age_limit).then_some(oldest)
    }

    fn nearest(&self, arm: &Arm, at: u64) -> Option<usize> {
        let ready = (0..self.commands.len()).filter(|index| self.commands[*index].ready <= at);
        ready.min_by_key(|index| (self.aged_begin(arm, *index, at), self.order(*index)))
    }

    /// When a command would begin, less its credit; nobody waits for a write that has been answered.
    #[inline]
    fn aged_begin(&self, arm: &Arm, index: usize, at: u64) -> i64 {
        let command = &self.commands[index];
        let age = if command.answered { 0 } else { at - command.ready };
        let begin = arm.plan(&command.extent, command.writes, at).begin;
        begin.cast_signed() - (age as f64 * self.age_credit) as i64
    }

    /// First come, first served; the places of a vector say nothing.
    #[inline]
    fn order(&self, index: usize) -> (u64, u64, u32) {
        let command = &self.commands[index];
        (command.ready, command.extent.from, command.slot)
    }
}
