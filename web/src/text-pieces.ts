/** Cuts a long text into pieces. Pure. */

/** The time to lay out a line grows with the square of its length. */
const PIECE_CHARS = 2000
/** More than fit into a window. */
const PIECE_LINES = 100

/** Contract: the text in parts that stand below each other; they end at line breaks where there are some. */
export function cutIntoPieces(text: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (;;) {
    const next = text.slice(from, from + PIECE_CHARS)
    const isRest = from + next.length === text.length
    if (isRest && next.split('\n').length <= PIECE_LINES) return [...pieces, next]
    const lineEnd = lastLineEnd(next)
    const isWholeLine = lineEnd >= 0
    const length = isWholeLine ? lineEnd : endOf(next, next.length)
    const piece = next.slice(0, length)
    // The break between two pieces stands for the line break; an empty last line is only drawn with one of its own.
    pieces.push(piece === '' || piece.endsWith('\n') ? `${piece}\n` : piece)
    from += isWholeLine ? length + 1 : length
  }
}

/** Contract: where the last of the lines that a piece may have ends; -1: no line ends here. */
function lastLineEnd(text: string): number {
  let end = -1
  for (let lines = 0; lines < PIECE_LINES; lines += 1) {
    const found = text.indexOf('\n', end + 1)
    if (found < 0) break
    end = found
  }
  return end
}

/** Contract: `at`, or one less in the middle of a character. */
export const endOf = (text: string, at: number): number => (/[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at - 1 : at)
