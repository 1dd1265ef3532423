//! The simulation with fewer draws, smaller settings and wider bars.

mod reduced;
