//! The store on each engine: what the database itself must hold and refuse.

mod schema;
