/**
 * Detects whether a text asks a person for something; used only if no structured data says it. Quoted text is ignored.
 * Must not know: who wrote the text, what follows from the answer.
 */

/** Patterns of a request; each must match within one paragraph. */
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

/** A text that names both options asks for a choice, even if they are in separate paragraphs. */
const OPTIONS: readonly RegExp[] = [/\boption a\b/, /\boption b\b/]

export function asksPerson(text: string): boolean {
  const unquotedText = removeQuotes(text.normalize('NFKC')).toLowerCase()
  const paragraphs = unquotedText.split(/\n\s*\n/)
  return (
    OPTIONS.every((option) => option.test(unquotedText)) ||
    paragraphs.some((paragraph) => PHRASES.some((phrase) => phrase.test(paragraph)))
  )
}

const FENCED = /^[ \t]*(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??[ \t]*\1[`~]*[ \t]*$|^[ \t]*(?:`{3,}|~{3,})[\s\S]*$/gm
const BLOCK_QUOTE = /^[ \t]*>.*$/gm
const INLINE_CODE = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g
/** Quotation marks count only around words, so that apostrophes and inch marks are not taken for quotes. */
const QUOTED = [
  /(?<!\w)"(?=\S)[^"\n]*?(?<=\S)"(?!\w)/g,
  /(?<!\w)'(?=\S)[^'\n]*?(?<=\S)'(?!\w)/g,
  /“[^”\n]*”|„[^“”\n]*[“”]|‘[^’\n]*’(?!\w)|«[^»\n]*»|‹[^›\n]*›/g,
  /「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|〈[^〉\n]*〉|【[^】\n]*】/g,
]

/** Replaces each quote by a mark, so that the words before and after the quote do not form a phrase. */
function removeQuotes(text: string): string {
  return [FENCED, BLOCK_QUOTE, INLINE_CODE, ...QUOTED].reduce((rest, quoted) => rest.replace(quoted, ' … '), text)
}
