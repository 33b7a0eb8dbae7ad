# shellcheck shell=bash
# Functions that the scripts share. Source it: . Scripts/lib.sh

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

# fail STATUS MESSAGE: ends with a status of sysexits.h (65 data, 69 unavailable).
fail() {
    local status=$1
    shift
    say "$*"
    exit "$status"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; return; fi
    command -v sudo >/dev/null || fail 69 "must be run as root, or with sudo installed, to run: $*"
    sudo "$@"
}

# fetch_wheel NAME VERSION FOLDER: downloads a wheel from PyPI, never a source distribution, and unpacks it into
# FOLDER/unpacked.
fetch_wheel() {
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d "$3" "$1==$2" ||
        fail 69 "could not get $1 $2 from PyPI; is there a way to the network (or set PIP_INDEX_URL)?"
    unzip -q -o "$3"/*.whl -d "$3/unpacked"
}

# verify_record FOLDER FILE: the file's SHA-256 must be the one the wheel's RECORD declares.
verify_record() {
    local expected actual
    expected=$(sed -n "s|^$2,sha256=\([^,]*\),.*|\1|p" "$1"/*.dist-info/RECORD)
    actual=$(openssl dgst -sha256 -binary "$1/$2" | base64 | tr '+/' '-_' | tr -d '=')
    if [ -z "$expected" ] || [ "$expected" != "$actual" ]; then fail 65 "$2 is not what its wheel declares"; fi
}
