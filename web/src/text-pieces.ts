/** Cuts a long text into pieces. Pure. */

/** The time to lay out a line grows with the square of its length. */
const PIECE_CHARS = 4000

/** Contract: the text in parts that stand below each other; they end at line breaks where there are some. */
export function cutIntoPieces(text: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  while (text.length - from > PIECE_CHARS) {
    const lineEnd = text.lastIndexOf('\n', from + PIECE_CHARS - 1)
    const isWholeLine = lineEnd >= from
    const to = isWholeLine ? lineEnd : endOf(text, from + PIECE_CHARS)
    // The break between two pieces stands for the line break; an empty line needs one of its own.
    pieces.push(to === from ? '\n' : text.slice(from, to))
    from = isWholeLine ? to + 1 : to
  }
  return [...pieces, text.slice(from)]
}

/** Contract: `at`, or one less in the middle of a character. */
export const endOf = (text: string, at: number): number => (/[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at - 1 : at)
