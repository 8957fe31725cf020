import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainConfig } from '../../src/config.ts'
import { configOf, errorMessageOf, load } from '../support/config-files.ts'
import { openApp } from '../support/open-app.ts'

const FAULTS: readonly (readonly [string, RegExp])[] = [
  [
    'sources: { a: { type: webhok, secret: x } }',
    /sources\.a\.type is not valid.*one of webhook, websocket.*write webhook/,
  ],
  ['sources: { a: { path: x } }', /sources\.a\.type is missing/],
  ['sources: { a: { type: files, pats: [x] } }', /sources\.a\.pats is not a known key; do this: rename it to paths/],
  ['sources: { a: { type: process, command: [x], restar: always } }', /rename it to restart/],
  ['sources: { a: { type: webhook } }', /exactly one of secret, secret_env, secret_file/],
  ['sources: { a: { type: timer, every: 1h, cron: "@daily" } }', /exactly one of every, cron, at/],
  ['sources: { a: { type: timer, every: 0 } }', /sources\.a\.every is not valid/],
  ['sources: { a: { type: process, pid: 3, command: [x] } }', /exactly one of command, pid/],
  ['sources: { a: { type: mcp_resource, server: mail, uri: x } }', /sources\.a\.server is not valid.*which has none/],
  [
    'channels: { webhook: { url: "http://x", secret: y } }\nsources: { webhook: { type: webhook, secret: z } }',
    /sources\.webhook is not valid.*a name that no channel has/,
  ],
]

test('K7: a wrong source is refused with the nearest valid key or value', () => {
  for (const [yaml, message] of FAULTS) assert.match(errorMessageOf(yaml), message)
})

test('K7: defaults are filled in, paths are absolute, secrets are hidden', () => {
  const yaml = 'sources:\n  a: { type: webhook, secret: hunter2hunter2 }\n  b: { type: files, paths: [inbox] }\n'
  const { a, b } = configOf(yaml).sources
  assert.ok(a?.type === 'webhook' && a.event === 'webhook' && a.max_bytes === 65_536 && !a.trusted)
  assert.ok(b?.type === 'files' && b.paths[0]?.startsWith('/') && b.settle === 500)
  const shown = explainConfig(load(yaml))
  assert.doesNotMatch(JSON.stringify(shown), /hunter2/)
  assert.equal(shown.find(({ key }) => key === 'sources.a.type')?.value, 'webhook')
})

test('K7: a resident that names an unknown source, a bad cron line and a name clash are refused at load', async (t) => {
  const unknown = 'residents: [{ agent_id: r, sources: [inbx] }]\nsources: { inbox: { type: startup } }\n'
  await assert.rejects(openApp(t, { yaml: unknown }), /residents\[0\]\.sources\[0\].*got inbx; expected one of inbox/)
  await assert.rejects(
    openApp(t, { yaml: 'sources: { a: { type: timer, cron: "99 * * * *" } }\n' }),
    /sources\.a\.cron is not valid/,
  )
  const channel = { name: 'chat', trouble: () => null, deliver: async () => {}, receive: () => assert.fail() }
  const clash = 'sources: { chat: { type: startup } }\n'
  await assert.rejects(openApp(t, { yaml: clash, channels: [channel] }), /a source has the name of a channel.*chat/)
})
