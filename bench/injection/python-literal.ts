/** Parses a Python literal: strings, numbers, lists, tuples, dicts, True, False and None. */

import type { Json } from '../../src/domain/json.ts'

const TOKENS = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(True|False|None)\b|\(|\)/g
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null', '(': '[', ')': ']' }

/** Contract: returns the text itself if it is not such a literal. */
export function pythonValue(text: string): Json {
  const json = text.replaceAll(TOKENS, (found, single?: string, double?: string) => {
    const quoted = single ?? double
    return quoted === undefined ? (WORDS[found] ?? found) : JSON.stringify(quoted.replaceAll(/\\(['"\\])/g, '$1'))
  })
  try {
    return JSON.parse(json) as Json
  } catch {
    return text
  }
}
