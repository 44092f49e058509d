// What was recorded is written before a signal ends the program.
#pragma once

namespace fathom::inside {

/// Catches the signals that end a program, where it has no handler of its own: they have the
/// recorder write, and then end the program as they would have.
void catch_crashes();
void let_crashes_be();

}  // namespace fathom::inside
