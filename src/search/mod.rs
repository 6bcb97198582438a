//! Who is near whom?
