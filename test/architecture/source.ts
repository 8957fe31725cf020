/**
 * Reads TypeScript just far enough for the architecture test: the imports of a file, and its code without comments and
 * strings.
 * A scanner, not a parser: TypeScript 7 has no compiler API in its main export. All results keep the positions of the
 * source.
 */

import { stripTypeScriptTypes } from 'node:module'

export interface Import {
  readonly specifier: string
  readonly line: number
  /** `bare`: `import 'x'` for its side effects. `dynamic`: `import('x')`, also in a type. */
  readonly form: 'static' | 'bare' | 'dynamic'
}

const TOKEN = {
  space: /\s+/y,
  comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  string: /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y,
  /** From a backtick, or from the brace that ends an expression, to the next expression or the closing backtick. */
  template: /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y,
  regex: /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y,
  word: /[\p{L}\p{N}_$]+/uy,
}

const BEFORE_REGEX = /^(?:[^)\]}\p{L}\p{N}_$]|return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)?$/u

/** Blanks out comments, regular expressions and the insides of strings; code inside templates stays. */
export function codeOnly(source: string): string {
  let code = ''
  let previous = ''
  /** For each open template: the number of open braces in its expression. */
  const templates: number[] = []

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = code.length
    return pattern.exec(source)?.[0]
  }
  const keep = (text: string): void => {
    code += text
    previous = text
  }
  const blank = (text: string, edge: number): void => {
    const inside = text.slice(edge, text.length - edge)
    keep(text.slice(0, edge) + inside.replace(/[^\n]/g, ' ') + text.slice(text.length - edge))
  }
  const template = (text: string): void => {
    if (text.startsWith('}')) templates.pop()
    if (text.endsWith('${')) templates.push(0)
    code += text.replace(/[^\n]/g, ' ')
    previous = text.endsWith('`') ? ')' : '('
  }
  const punctuation = (char: string): void => {
    const open = templates.at(-1)
    if (open !== undefined && char === '{') templates[templates.length - 1] = open + 1
    if (open !== undefined && char === '}') templates[templates.length - 1] = open - 1
    keep(char)
  }

  while (code.length < source.length) {
    const char = source.charAt(code.length)
    const space = take(TOKEN.space)
    const comment = take(TOKEN.comment)
    const string = take(TOKEN.string)
    const piece = char === '`' || (char === '}' && templates.at(-1) === 0) ? take(TOKEN.template) : undefined
    const regex = BEFORE_REGEX.test(previous) ? take(TOKEN.regex) : undefined
    if (space !== undefined) code += space
    else if (comment !== undefined) code += comment.replace(/[^\n]/g, ' ')
    else if (string !== undefined) blank(string, 1)
    else if (piece !== undefined) template(piece)
    else if (regex !== undefined) blank(regex, 0)
    else {
      const word = take(TOKEN.word)
      if (word === undefined) punctuation(char)
      else keep(word)
    }
  }
  return code
}

const IMPORTS: readonly { readonly form: Import['form']; readonly pattern: RegExp }[] = [
  { form: 'static', pattern: /\b(?:import|export)\b[^'"`;()=]*?\bfrom\s*(?=['"])/g },
  { form: 'bare', pattern: /\bimport\s*(?=['"])/g },
  { form: 'dynamic', pattern: /\bimport\s*\(\s*(?=['"])/g },
]

/** Every import and re-export, types included. */
export function importsOf(source: string): readonly Import[] {
  const code = codeOnly(source)
  return IMPORTS.flatMap(({ form, pattern }) =>
    [...code.matchAll(pattern)].map((match) => {
      const quote = match.index + match[0].length
      const end = code.indexOf(code.charAt(quote), quote + 1)
      return { specifier: source.slice(quote + 1, end), line: lineAt(code, quote), form }
    }),
  )
}

/** The code that runs once the types are removed. Contract: throws if the source is not erasable TypeScript. */
export function withoutTypes(source: string): string {
  return stripTypeScriptTypes(source, { mode: 'strip' })
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

const DECLARATION = /^(?:import|export|const|function|async function|class|[)\]}]|$)/

/** Lines that run code when the file is loaded. Such statements start at the margin, which the formatter ensures. */
export function topLevelEffects(source: string): readonly number[] {
  const lines: number[] = []
  let depth = 0
  for (const [index, line] of codeOnly(withoutTypes(source)).split('\n').entries()) {
    const atMargin = depth === 0 && !/^\s/.test(line)
    let surface = ''
    for (const char of line) {
      if ('([{'.includes(char)) depth++
      else if (')]}'.includes(char)) depth--
      else if (depth === 0) surface += char
    }
    if ((atMargin && !DECLARATION.test(line)) || /\bawait\b/.test(surface)) lines.push(index + 1)
  }
  return lines
}
