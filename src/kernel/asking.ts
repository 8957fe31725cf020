/**
 * Whether a text asks a person for something: the last resort, where nothing structured tells. What it only quotes does not count.
 * Must not know: who wrote it, and what follows.
 */

/** All words of a rule stand in one paragraph, in this order. */
const PHRASES: readonly RegExp[] = [
  /\bdo you want me\b/,
  /\bmy understanding is\b.*\?/s,
  /\bplease confirm\b/,
  /\bplease choose\b/,
  /你要我.*吗/s,
  /我的理解是.*(?:对吗|是否)/s,
  /请确认/,
  /请选择/,
  /可选.*\b[ab]\)/s,
  /请回复/,
]

/** Two options are a choice also where they stand in paragraphs of their own. */
const OPTIONS: readonly RegExp[] = [/\boption a\b/, /\boption b\b/]

export function asksPerson(text: string): boolean {
  const own = unquoted(text.normalize('NFKC')).toLowerCase()
  const paragraphs = own.split(/\n\s*\n/)
  return (
    OPTIONS.every((option) => option.test(own)) ||
    paragraphs.some((paragraph) => PHRASES.some((phrase) => phrase.test(paragraph)))
  )
}

const FENCED = /^[ \t]*(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??[ \t]*\1[`~]*[ \t]*$|^[ \t]*(?:`{3,}|~{3,})[\s\S]*$/gm
const BLOCK_QUOTE = /^[ \t]*>.*$/gm
const INLINE_CODE = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g
/** A mark that opens stands before a word, one that closes behind it: an apostrophe or an inch quotes nothing. */
const QUOTED = [
  /(?<!\w)"(?=\S)[^"\n]*?(?<=\S)"(?!\w)/g,
  /(?<!\w)'(?=\S)[^'\n]*?(?<=\S)'(?!\w)/g,
  /“[^”\n]*”|„[^“”\n]*[“”]|‘[^’\n]*’(?!\w)|«[^»\n]*»|‹[^›\n]*›/g,
  /「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|〈[^〉\n]*〉|【[^】\n]*】/g,
]

/** What is taken out leaves a mark, so that what stood before and behind it does not become one phrase. */
function unquoted(text: string): string {
  return [FENCED, BLOCK_QUOTE, INLINE_CODE, ...QUOTED].reduce((left, quoted) => left.replace(quoted, ' … '), text)
}
