# The parts of a release. Each puts files into $out.

install_tools() {
    rustup run "$RUSTUP_TOOLCHAIN" rustc --version 2>/dev/null ||
        rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal --no-self-update
    [[ -x $tools/bin/pip ]] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r packaging/tools.txt
    PATH=$tools/bin:$PATH
    (
        # What is installed in this version is not built again.
        export CARGO_TARGET_DIR=$tools/build CARGO_PROFILE_RELEASE_LTO=off
        cargo install --quiet --locked --root "$tools" --features cli cargo-about@0.9.3
        cargo install --quiet --locked --root "$tools" cargo-cyclonedx@0.5.9
    )
}

# Makes the links of a page absolute, as its readers do not have the other files of the repository.
absolute_links() {
    perl -pi -e "s|\]\((\.\./)?([A-Za-z][^():]*)\)|]($repository/blob/v$version/\$2)|g" "$1"
}

# The licences of all packages in a program or wheel: DIRECTORY TARGET FEATURES
third_party() {
    (cd "$src" && cargo about generate --locked --offline --fail --config about.toml --manifest-path "$1/Cargo.toml" \
        --target "$2" --features "$3" packaging/licences.hbs)
}

# The components (SBOM) of a program or wheel, with path names as RUSTFLAGS maps them: DIRECTORY TARGET FEATURES
components() {
    (cd "$src" && cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$2" --features "$3" \
        --describe binaries --manifest-path "$1/Cargo.toml")
    sed "s|$work|/simtool|g" "$src/$1"/*.cdx.json
    find "$src" -name '*.cdx.json' -delete
}

# The standard library of TARGET.
standard_library() {
    rustup target add "$1" >/dev/null 2>&1 || fail "rustup cannot install the standard library of $1"
}

# The program for TARGET, linked by the tools of macOS there, elsewhere by Zig.
build() {
    local target=$1
    standard_library "$target"
    (cd "$src" && RUSTFLAGS="$remap ${2-}" CARGO_PROFILE_RELEASE_STRIP=symbols cargo $([[ $system == Darwin ]] && echo build || echo zigbuild) \
        --locked --release --target "$target" --features tls -p simtool --bin simtool)
}

# The program of this machine, for manual pages and completions.
simtool() {
    local target=$1 program=$work/build/$1/release/simtool
    shift
    case $target in
        "$(uname -m)"-* | *-apple-*) "$program" "$@" ;;
        *) "qemu-${target%%-*}-static" "$program" "$@" ;;
    esac
}

# The program with its manual pages, completions and licences.
program() {
    local target=$1 name=simtool-$version-$1 topic
    local dir=$work/files/$name
    mkdir -p "$dir/man" "$dir/completions"
    cp "$work/build/$target/release/simtool" "$src"/{README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT} "$dir"
    cp -r "$src/docs/how-to/service/simtool.service" "$src/packaging/Containerfile" "$src/testdata/example" "$dir"
    absolute_links "$dir/README.md"
    third_party . "$target" tls >"$dir/LICENSE-THIRD-PARTY.txt"
    simtool "$target" man >"$dir/man/simtool.1"
    for topic in dedup lines spans decontaminate match evaluate tune methods explain index serve generate; do
        simtool "$target" man "$topic" >"$dir/man/simtool-$topic.1"
    done
    simtool "$target" completions bash >"$dir/completions/simtool.bash"
    simtool "$target" completions zsh >"$dir/completions/_simtool"
    simtool "$target" completions fish >"$dir/completions/simtool.fish"
    archive "$out/$name.tar.gz" "$dir"
    components . "$target" tls >"$out/$name.cdx.json"
}

deb() {
    local dir=$work/files/deb-$2 archive=$work/files/simtool-$version-$1
    mkdir -p "$dir"
    cp -r "$archive"/. "$dir"
    gzip -9n "$dir"/man/*
    gzip -9nc "$dir/CHANGELOG.md" >"$dir/changelog.gz"
    cat packaging/copyright "$archive/LICENSE-MIT" >"$dir/copyright"
    ARCHIVE=$dir ARCH=$2 VERSION=$version HOMEPAGE=$repository MAINTAINER="simtool <noreply@$(cut -d/ -f3 <<<"$repository")>" \
        nfpm package -p deb -f packaging/nfpm.yaml -t "$out/simtool_${version}_$2.deb"
}

# A wheel: TARGET, and a platform tag unless it follows from the target.
wheel() {
    standard_library "$1"
    absolute_links "$src/python/README.md"
    third_party python "$1" '' >"$src/python/LICENSE-THIRD-PARTY.txt"
    components python "$1" '' >"$work/files/simtool-python.cdx.json"
    (cd "$src/python" && RUSTFLAGS="$remap ${3-}" maturin build --locked --release --target "$1" -o "$out" \
        --sbom-include "$work/files/simtool-python.cdx.json" ${2:+--zig --compatibility "$2"})
}

linux() {
    build "$1-unknown-linux-musl" "$static"
    program "$1-unknown-linux-musl"
    deb "$1-unknown-linux-musl" "$([[ $1 == x86_64 ]] && echo amd64 || echo arm64)"
}

wheels() {
    wheel "$1-unknown-linux-gnu" manylinux_2_17
    wheel "$1-unknown-linux-musl" musllinux_1_2 '-C target-feature=-crt-static'
}

macos() {
    local processor
    for processor in x86_64 aarch64; do
        build "$processor-apple-darwin"
        program "$processor-apple-darwin"
        wheel "$processor-apple-darwin"
    done
}

# The packages that scripts/publish-crates uploads from a checkout, not yet built. Cargo packs the commit, too.
crates() {
    rm -rf "$work/build/package" "$work/checkout"
    git clone --quiet . "$work/checkout"
    (cd "$work/checkout" && cargo package --locked --workspace --exclude simtool-python --exclude simtool-fuzz \
        --exclude simtool-cluster --exclude simtool-testing --no-verify)
    cp "$work"/build/package/*.crate "$out"
}
