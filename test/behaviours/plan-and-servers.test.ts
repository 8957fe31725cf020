/** What PLAN can do through the tools of an MCP server, which no mount of the workspace limits. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { git } from '../support/git-repository.ts'
import { configYaml, filesystemServer, toolCall } from '../support/mcp-homes.ts'
import { freshFolder, openApp, runTaskIn } from '../support/open-app.ts'
import { finish, pdcaModel } from '../support/pdca-script.ts'
import { makeInbox } from '../support/word-counter.ts'

/** Lets PLAN call tools of a server that can write the workspace; returns what changed, and what the model read. */
async function planWith(t: TestContext, settings: object, tools: readonly string[]) {
  const workspace = makeInbox(freshFolder(t, 'ws'))
  const server = { command: filesystemServer(workspace), ...settings }
  const steps = tools.map((tool) =>
    tool === 'write_file'
      ? toolCall(`files__${tool}`, { path: join(workspace, 'by-server.txt'), content: 'x' })
      : toolCall(`files__${tool}`, { path: join(workspace, 'inbox/a.txt') }),
  )
  const model = pdcaModel(({ turn }) => steps[turn] ?? finish('planned'))
  const app = await openApp(t, { model, yaml: configYaml({ files: server }) })
  const { status, error } = await runTaskIn(app, 'Look around.', { behaviour: 'plan', workspace })
  assert.equal(status, 'done', `${error}`)
  const read = model.requests.map(({ messages }) => JSON.stringify(messages.findLast(({ role }) => role === 'tool')))
  return { changed: git(workspace, 'status', '--porcelain'), read: read.slice(1) }
}

const REFUSED = /plan may not change anything, and files__\w+ would/
const TRUSTING = { read_only: { recovery: 'pure', reach: 'private' } }

describe('O2: PLAN and the tools of MCP servers', () => {
  for (const [what, settings] of [
    ['without a configured effect', {}],
    ['that the owner calls idempotent', { effects: { write_file: { recovery: 'idempotent', reach: 'workspace' } } }],
    ['that only reaches private data', { effects: { write_file: { recovery: 'once', reach: 'private' } } }],
    ['of a trusted server', { trust: 'trusted', effects: { write_file: { recovery: 'idempotent', reach: 'none' } } }],
    ['that the server does not mark as read-only', TRUSTING],
  ] as const)
    test(`a tool ${what} is refused, and writes nothing`, async (t) => {
      const { changed, read } = await planWith(t, settings, ['write_file'])
      assert.match(read[0] ?? '', REFUSED)
      assert.equal(changed, '')
    })

  test('a tool that the server marks as read-only runs only if the owner trusts its marks', async (t) => {
    const unmarked = await planWith(t, {}, ['read_text_file'])
    assert.match(unmarked.read[0] ?? '', REFUSED)
    const trusted = await planWith(t, TRUSTING, ['read_text_file', 'write_file'])
    assert.match(trusted.read[0] ?? '', /one two three/)
    assert.match(trusted.read[1] ?? '', REFUSED)
    assert.equal(trusted.changed, '')
  })
})
