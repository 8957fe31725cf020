/** Each value of an agent can be changed, is what `agent show` shows, and is never lost to a concurrent edit. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const OWNER_YAML = `kernel:
  timezone: UTC
  agents:
    # the first
    - agent_id: first
      prompt: Create a.md. # not much
      tools: [gone__tool]
`

async function openAgents(t: TestContext) {
  const home = freshFolder(t)
  const clock = new FakeClock({ now: Date.UTC(2026, 1, 11, 12) })
  const app = await openApp(t, { home, clock, yaml: OWNER_YAML })
  const fileOf = (): Record<string, unknown> =>
    parse(readFileSync(join(home, 'tireless.yaml'), 'utf8')).kernel.agents[0] as Record<string, unknown>
  return { home, app, fileOf, show: () => app.run('agent show', { id: 'first' }) }
}

describe('E1: editing an agent', () => {
  test('E1: every value is written as people write it, shown as it was written, and taken back', async (t) => {
    const { home, app, fileOf, show } = await openAgents(t)
    const change = {
      ...{ prompt: 'Create b.md.', schedule: 'every 90 minutes', priority: 7, workspace: 'workspaces/there' },
      ...{ tools: 'list_files, view_file', timeout: '45m', cooldown: '10m', description: 'Writes.', enabled: false },
      ...{ model: 'offline/rules', role: 'You are careful.\n', self: 'I like lists.\n' },
    }
    await app.run('agent edit', { id: 'first', ...change })
    assert.deepEqual(fileOf(), {
      ...{ agent_id: 'first', prompt: 'Create b.md.', tools: ['list_files', 'view_file'], schedule: { every: '90m' } },
      ...{ model: 'offline/rules', priority: 7, workspace: 'workspaces/there', timeout: '45m', cooldown: '10m' },
      ...{ description: 'Writes.', enabled: false },
    })
    const text = readFileSync(join(home, 'tireless.yaml'), 'utf8')
    assert.match(text, /# the first\n.*\n {6}prompt: Create b\.md\. # not much\n/)
    const shown = await show()
    assert.deepEqual(
      { ...change, tools: shown.tools?.join(', '), schedule: '90m' },
      Object.fromEntries(
        Object.keys(change).map((key) => [
          key,
          key === 'tools'
            ? shown.tools?.join(', ')
            : key === 'schedule'
              ? shown.schedule_option
              : Reflect.get(shown, key),
        ]),
      ),
    )
    assert.equal(readFileSync(join(home, 'agents/first/self.md'), 'utf8'), 'I like lists.\n')
    await app.run('agent edit', {
      ...{ id: 'first', schedule: 'beats', workspace: 'none', tools: 'all', timeout: 'default', model: 'none' },
      ...{ cooldown: '0s', description: 'none', enabled: true, self: '' },
    })
    const { schedule_option, workspace, tools, timeout, model, self } = await show()
    assert.deepEqual(
      { schedule_option, workspace, tools, timeout, model, self },
      { schedule_option: 'beats', workspace: null, tools: null, timeout: 'default', model: null, self: null },
    )
    assert.equal(existsSync(join(home, 'agents/first/self.md')), false)
  })

  test('E1: wrong values are refused with what is expected; a tool that is listed but gone may stay', async (t) => {
    const { app, fileOf } = await openAgents(t)
    const refused = async (change: object, message: RegExp): Promise<void> => {
      await assert.rejects(app.run('agent edit', { id: 'first', ...change }), message)
    }
    await refused({ tools: 'list_files,hammer' }, /there is no such tool; got hammer; .*tools list/)
    await refused({ timeout: 'soon' }, /the timeout is not valid; got soon/)
    await refused({ timeout: '0s' }, /the timeout is not valid/)
    await refused({ cooldown: '-1m' }, /the cooldown is not valid/)
    await refused({ model: 'nobody/x' }, /unknown model/)
    await app.run('agent edit', { id: 'first', tools: 'gone__tool,list_files', timeout: 'none' })
    assert.deepEqual(fileOf().tools, ['gone__tool', 'list_files'])
    assert.equal(fileOf().timeout, null)
    const { items } = await app.run('tools list', {})
    const reachOf = (tool: string) => items.find(({ name }) => name === tool)?.reach
    assert.deepEqual([reachOf('view_file'), reachOf('create_file'), reachOf('fetch')], ['none', 'workspace', null])
    assert.equal(items.find(({ name }) => name === 'spawn_agent')?.offered, false)
  })

  test('I7: an edit of what was changed elsewhere meanwhile is refused, and loses neither', async (t) => {
    const { home, app, show } = await openAgents(t)
    const { revision } = await show()
    const file = join(home, 'tireless.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('# not much', '# only a comment'))
    await app.run('agent edit', { id: 'first', priority: 1, revision, dry_run: true })
    // Written by an editor, and not yet taken up by the program.
    writeFileSync(file, readFileSync(file, 'utf8').replace('Create a.md.', 'Create z.md.'))
    await assert.rejects(app.run('agent edit', { id: 'first', prompt: 'mine', revision }), {
      code: 'conflict',
      message: /has changed since you looked at it; nothing was saved/,
    })
    assert.match(readFileSync(file, 'utf8'), /prompt: Create z\.md\. # only a comment/)
    const fresh = await show()
    assert.equal(fresh.prompt, 'Create z.md.', 'what is shown is what the file says')
    await app.run('agent edit', { id: 'first', priority: 4, revision: fresh.revision })
    assert.match(readFileSync(file, 'utf8'), /prompt: Create z\.md\. # only a comment\n(?:.*\n)*.*priority: 4/)
    await app.run('agent edit', { id: 'first', role: 'theirs' })
    await assert.rejects(app.run('agent edit', { id: 'first', role: 'mine', revision: (await show()).prompt }), {
      code: 'conflict',
    })
  })

  test('a role that is the prompt is shown as such, and cannot be emptied', async (t) => {
    const home = freshFolder(t)
    mkdirSync(join(home, 'agents/r/behaviours'), { recursive: true })
    writeFileSync(join(home, 'agents/r/agent.yaml'), 'enabled: false # asleep\n')
    writeFileSync(join(home, 'agents/r/role.md'), 'Do one thing.\n')
    const app = await openApp(t, { home })
    const { prompt_is_role, behaviours } = await app.run('agent show', { id: 'r' })
    assert.equal(prompt_is_role, true)
    assert.ok(behaviours.some(({ name, own }) => name === 'plan' && !own))
    await assert.rejects(app.run('agent edit', { id: 'r', role: ' ' }), /the role is all that the agent has/)
    assert.equal((await app.run('agent edit', { id: 'r', role: 'Do another.' })).prompt, 'Do another.')
    const { stdout } = await tireless(home, 'tools', 'list')
    assert.match(stdout, /name +reach +offered +does\n/)
    assert.match(stdout, /bash +depends on the call +/)
  })
})
