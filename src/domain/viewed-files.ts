/** Which files a session has viewed or written, in which version, and which lines of those that it viewed in part. */

/** Lines that one call showed, counted from 1; none if `to` is less than `from`. */
export interface ViewedPart {
  readonly from: number
  readonly to: number
  /** Lines of the file. */
  readonly of: number
}

interface ViewedFiles {
  /** Digests by path. */
  readonly digests: Map<string, string>
  /** Lines of those that were not viewed as a whole, in order and apart from each other. */
  readonly parts: Map<string, readonly ViewedPart[]>
}

/** Contract: changes `files`; `part` undefined: the session knows the whole file. */
export function noteViewed(files: ViewedFiles, path: string, sha: string, part: ViewedPart | undefined): void {
  const { digests, parts } = files
  const isKnown = digests.get(path) === sha
  const isWhole = part === undefined || (isKnown && !parts.has(path))
  digests.set(path, sha)
  if (isWhole) parts.delete(path)
  else {
    const all = joinParts([...(isKnown ? (parts.get(path) ?? []) : []), part])
    const [first] = all
    if (first && first.from <= 1 && first.to >= first.of) parts.delete(path)
    else parts.set(path, all)
  }
}

function joinParts(parts: readonly ViewedPart[]): readonly ViewedPart[] {
  const joined: ViewedPart[] = []
  for (const part of parts.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && part.from <= last.to + 1) joined.splice(-1, 1, { ...last, to: Math.max(last.to, part.to) })
    else joined.push(part)
  }
  return joined
}

/** Contract: pure; the lines as people write them: `lines 1-20, 40-60 of 300`. */
export function describeViewed(parts: readonly ViewedPart[]): string {
  const lines = parts.filter(({ from, to }) => to >= from).map(({ from, to }) => (from === to ? from : `${from}-${to}`))
  const of = parts[0]?.of ?? 0
  return lines.length === 0 ? `a part of its ${of} lines` : `lines ${lines.join(', ')} of ${of}`
}
