# What makes a build the same in every directory and at every time. Needs $work; sets the variables of cargo, of
# rustup, of the C compiler and of maturin.
export SOURCE_DATE_EPOCH RUSTUP_TOOLCHAIN LC_ALL=C TZ=UTC
umask 022
RUSTUP_TOOLCHAIN=$(<packaging/rust-version.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CARGO_TARGET_DIR=$work/build CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
cargo_home=${CARGO_HOME:-$HOME/.cargo}
remap="--remap-path-prefix=$work=/simtool --remap-path-prefix=$cargo_home=/cargo"
# mimalloc stores when it was compiled. Cargo does not compile it again for a later commit, so that time is left
# out.
no_time='-Wno-builtin-macro-redefined -D__DATE__="" -D__TIME__=""'
export CFLAGS="-ffile-prefix-map=$work=/simtool -ffile-prefix-map=$cargo_home=/cargo -g0 $no_time"
export CXXFLAGS=$CFLAGS

# A static program needs no relocation when it starts.
static="-C target-feature=+crt-static -C relocation-model=static"

# An archive whose bytes depend on the files only.
archive() {
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        -c -C "$(dirname "$2")" "$(basename "$2")" | gzip -9n >"$1"
}
