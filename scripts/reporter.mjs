// A node:test reporter for scripts/test.mjs: one JSON line per finished test, with formatted errors. Suites do not
// count as tests.

import { relative } from 'node:path'
import { inspect } from 'node:util'

/** The summary lines of node:test. */
const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

export default async function* reporter(source) {
  const path = []
  let file
  for await (const { type, data } of source) {
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name)
    if (type === 'test:start' && data.nesting === 0 && data.file) file = relative('', data.file)
    const event = eventFrom(type, data)
    const name = path.slice(0, data.nesting + 1).join(' › ')
    if (event) yield `${JSON.stringify({ ...event, file, name })}\n`
  }
}

function eventFrom(type, data) {
  if (type === 'test:diagnostic') return SUMMARY.test(data.message) ? undefined : { kind: 'note', detail: data.message }
  if (type !== 'test:pass' && type !== 'test:fail') return undefined
  if (data.skip !== undefined) return { kind: 'skipped', detail: reason(data.skip, 'no reason given') }
  if (data.todo !== undefined) return { kind: 'skipped', detail: reason(data.todo, 'to do') }
  if (data.details.type === 'suite') return suite(type, data)
  return type === 'test:pass' ? { kind: 'passed' } : { kind: 'failed', detail: failure(data) }
}

/** A suite counts only if it failed itself, for example in a hook. */
function suite(type, data) {
  if (type === 'test:pass' || data.details.error.failureType === 'subtestsFailed') return undefined
  return { kind: 'failed', detail: failure(data) }
}

const reason = (given, otherwise) => (typeof given === 'string' && given !== '' ? given : otherwise)

function failure({ file, line, details: { error } }) {
  const where = file ? `${relative('', file)}:${line}\n` : ''
  const cause = error.cause ?? error
  return where + (cause instanceof Error ? inspect(cause, { colors: false, depth: 6 }) : String(cause))
}
