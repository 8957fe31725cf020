/** Says in which file and line the import of a module failed. */

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { asTirelessError, TirelessError } from '../../domain/error.ts'

/** Contract: an error whose `where` is the file, with the line if it is known. */
export function importError(thrown: unknown, file: string, fix: string): TirelessError {
  const { message, code, parts } = asTirelessError(thrown, 'plugin_failed')
  const line = lineIn(thrown, file) ?? (thrown instanceof SyntaxError ? syntaxErrorLine(file) : undefined)
  const where = line === undefined ? file : `${file}:${line}`
  if (thrown instanceof TirelessError) return new TirelessError(code, { ...parts, where: parts.where ?? where, fix })
  return new TirelessError(
    'plugin_failed',
    { what: 'the module cannot be loaded', where, got: `${nameOf(thrown)}${message}`, fix },
    { cause: thrown },
  )
}

const nameOf = (thrown: unknown): string => (thrown instanceof SyntaxError ? 'SyntaxError: ' : '')

/** The line of the file in the stack: of the place that threw, or of a mistake that Node found. */
function lineIn(thrown: unknown, file: string): string | undefined {
  const stack = thrown instanceof Error ? String(thrown.stack) : ''
  const at = stack.indexOf(file)
  return at < 0 ? undefined : /^(?:\?[^:)]*)?:(\d+)/.exec(stack.slice(at + file.length))?.[1]
}

/** Node leaves the line out of a SyntaxError in JavaScript that is caught; the parser for TypeScript names it. */
function syntaxErrorLine(file: string): string | undefined {
  try {
    stripTypeScriptTypes(readFileSync(file, 'utf8'), { sourceUrl: file })
    return undefined
  } catch (thrown) {
    return lineIn(thrown, file)
  }
}
