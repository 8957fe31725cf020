// A reporter of node:test for scripts/test.mjs: a JSON line per finished test, errors already in readable words.
// Suites are not tests; a test that failed only because a subtest did says no more than that.

import { relative } from 'node:path'
import { inspect } from 'node:util'

/** What node:test says at the end by itself. */
const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

export default async function* reporter(source) {
  const path = []
  for await (const { type, data } of source) {
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name)
    const event = tell(type, data)
    if (event) yield `${JSON.stringify({ ...event, name: path.slice(0, data.nesting + 1).join(' › ') })}\n`
  }
}

function tell(type, data) {
  if (type === 'test:diagnostic') return SUMMARY.test(data.message) ? undefined : { kind: 'note', detail: data.message }
  if (type !== 'test:pass' && type !== 'test:fail') return undefined
  if (data.skip !== undefined) return { kind: 'skipped', detail: reason(data.skip, 'no reason given') }
  if (data.todo !== undefined) return { kind: 'skipped', detail: reason(data.todo, 'to do') }
  if (data.details.type === 'suite') return suite(type, data)
  return type === 'test:pass' ? { kind: 'passed' } : { kind: 'failed', detail: failure(data) }
}

/** A suite counts only when it failed by itself: in a hook, say. */
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
