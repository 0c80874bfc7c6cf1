#!/usr/bin/env bash
# Counts the files that a commit touches, written by hand and generated apart.
#
#   docs/internals/count-files.sh COMMIT      one commit, against its first parent
#   docs/internals/count-files.sh OLD..NEW    several commits as one change
#
# Generated are snapshots, lock files, the corpus of the fuzz targets, docs/cli.md, docs/health.md, and pages of docs/ whose text outside of
# the generated regions (between "<!-- …: begin -->" and "<!-- …: end -->") did not change.
set -euo pipefail
if [ $# -ne 1 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 64
fi
case $1 in
*..*) old=${1%%..*} new=${1##*..} ;;
*) old=$1^ new=$1 ;;
esac
git rev-parse --verify --quiet "$old^{commit}" >/dev/null || { echo "no such commit: $old" >&2; exit 1; }
git rev-parse --verify --quiet "$new^{commit}" >/dev/null || { echo "no such commit: $new" >&2; exit 1; }

# The text of a file without its generated regions; nothing where the file is absent.
by_hand() {
    git show "$1:$2" 2>/dev/null | awk '
        /^<!-- .*(: begin|: made by .*) -->$/ { print; generated = 1; next }
        /^<!-- .*(: end|end of .*) -->$/ { generated = 0 }
        !generated'
}

is_generated() {
    case $1 in
    *.snap | */Cargo.lock | Cargo.lock | docs/cli.md | docs/health.md | fuzz/corpus/*) return 0 ;;
    docs/*.md) [ "$(by_hand "$old" "$1")" = "$(by_hand "$new" "$1")" ] ;;
    *) return 1 ;;
    esac
}

written=() generated=()
while IFS= read -r -d '' file; do
    if is_generated "$file"; then generated+=("$file"); else written+=("$file"); fi
done < <(git diff --name-only --find-renames -z "$old" "$new")

echo "written by hand: ${#written[@]}"
[ ${#written[@]} -eq 0 ] || printf '    %s\n' "${written[@]}"
echo "generated: ${#generated[@]}"
[ ${#generated[@]} -eq 0 ] || printf '    %s\n' "${generated[@]}"
