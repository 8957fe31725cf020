/** Words: whether somebody has said something. Whole words in a row, never a part of one: who wrote `evil.com` did not write `devil.com`. */

/** What is a word by itself, and what holds words apart. Han has no spaces, so there each word is what the language's rules say. */
const PIECES = /\p{Script=Han}+|[^\s\p{Script=Han}"'“”‘’`<>(){}[\],;|，。；：！？、（）《》【】「」]+/gu
const HAN = /\p{Script=Han}/u
const AROUND = /^[.:!?#@/\\*~_-]+|[.:!?/\\*~_-]+$/g
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//

export function wordsOf(text: string): readonly string[] {
  // Loading it takes longer than most texts do.
  let segmenter: Intl.Segmenter | undefined
  return (text.normalize('NFKC').toLowerCase().match(PIECES) ?? []).flatMap((piece) => {
    if (!HAN.test(piece)) return trimmed(piece) ?? []
    segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' })
    return [...segmenter.segment(piece)].map(({ segment }) => segment)
  })
}

function trimmed(piece: string): string | undefined {
  const word = piece.replace(SCHEME, '').replace(AROUND, '')
  return word === '' ? undefined : word
}

/** Who says where a page is says whose page it is. The other way round nobody has said anything of the page. */
const PAGE = /^((?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?)[/?#]/

const hostsIn = (words: readonly string[]): readonly string[] => words.flatMap((word) => PAGE.exec(word)?.[1] ?? [])

const BETWEEN = '\0'
const inARow = (words: readonly string[]): string => `${BETWEEN}${words.join(BETWEEN)}${BETWEEN}`

/**
 * Contract: whether it is made of words that stand in one of the texts, in that order, or is the host of an address there. What has no words was
 * said by nobody.
 */
export function saidIn(texts: Iterable<string>): (what: string) => boolean {
  const rows = [...texts].flatMap((text) => {
    const words = wordsOf(text)
    return [words, ...hostsIn(words).map((host) => [host])].map(inARow)
  })
  return (what) => {
    const words = wordsOf(what)
    return words.length > 0 && rows.some((row) => row.includes(inARow(words)))
  }
}
