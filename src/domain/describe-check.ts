/** Says in one line what a check of a todo tests. Pure. */

import { assertNever } from './error.ts'
import type { TodoCheck } from './todo.ts'

export function describeCheck(check: TodoCheck): string {
  switch (check.kind) {
    case 'command': {
      const expected = check.expect_exit === undefined || check.expect_exit === 0 ? '' : ` (exit ${check.expect_exit})`
      return `command ${quote(check.run)}${expected}`
    }
    case 'file': {
      const wanted = [
        ...(check.exists === false ? ['is missing'] : []),
        ...(check.contains === undefined ? [] : [`contains ${quote(check.contains)}`]),
        ...(check.sha256 === undefined ? [] : [`has SHA-256 ${check.sha256}`]),
      ]
      return `file ${check.path} ${wanted.join(' and ') || 'exists'}`
    }
    case 'http':
      return `GET ${check.url} gives ${check.status ?? 200}`
    default:
      return assertNever(check)
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
