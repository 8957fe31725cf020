/** Who sees whom: commands name parents and sub-agents, and the model learns of the agents that work for others. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderDispatch, renderSession } from '../../src/cli/views/runs.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import { readSpawnedBy } from '../../src/domain/sub-agent.ts'
import { calling, openFamily, spawning, WAIT_FOR_AGENTS } from '../support/agent-family.ts'
import { fakeTool, resultsOf } from '../support/fake-tools.ts'

const AGENTS = `kernel:
  agents:
    - { agent_id: scribe, enabled: false, description: Writes letters., prompt: write, tools: [view_file] }
    - { agent_id: lister, enabled: false, prompt: list, tools: [spawn_agent, view_file] }
    - { agent_id: elsewhere, enabled: false, description: Works elsewhere., platform: windows, prompt: x }
`

const toolsOf = (child: Dispatch | undefined): readonly string[] =>
  (child && readSpawnedBy(child.metadata)?.tools) ?? []

describe('sub-agents in sight', () => {
  test('queue show, sessions show and status name parents and sub-agents, for people and programs', async (t) => {
    const seen: string[] = []
    const family = await openFamily(
      t,
      { lead: [spawning('helper: look around'), WAIT_FOR_AGENTS], 'helper:': [calling('look')] },
      {
        tools: ['spawn_agent', 'look', 'wait', 'finish'],
        toolsToAdd: [
          fakeTool({
            name: 'look',
            async run() {
              const { runs } = await family.app.run('status', {})
              seen.push(...runs.flatMap(({ parent_id }) => parent_id ?? []))
              return 'seen'
            },
          }),
        ],
      },
    )
    const { dispatch_id, session_id } = await family.run()
    const [child] = await family.children()
    const shown = await family.app.run('queue show', { id: dispatch_id })
    assert.deepEqual(shown.children, [
      { dispatch_id: child?.dispatch_id, agent_id: 'default', status: 'done', title: 'helper: look around' },
    ])
    assert.match(renderDispatch(shown), new RegExp(`sub-agent: ${child?.dispatch_id}  done  default`))
    const below = await family.app.run('queue show', { id: child?.dispatch_id ?? '' })
    assert.match(renderDispatch(below), new RegExp(`started by run: ${dispatch_id}`))
    const session = await family.app.run('sessions show', { id: session_id })
    assert.deepEqual(session.runs[0]?.children, shown.children)
    assert.match(renderSession(session), /sub-agent: .*helper: look around/)
    assert.deepEqual(seen, [dispatch_id])
  })

  test('spawn_agent names the agents that work for others, and refuses one that cannot work here', async (t) => {
    const family = await openFamily(
      t,
      {
        lead: [
          spawning({ agent: 'elsewhere', task: 'go' }),
          spawning({ agent: 'scribe', task: 'go' }),
          WAIT_FOR_AGENTS,
        ],
      },
      { yaml: AGENTS },
    )
    const { session_id } = await family.run()
    const text = JSON.stringify(family.model.requests[0]?.tools.find(({ name }) => name === 'spawn_agent'))
    assert.match(text, /scribe: Writes letters\./)
    assert.doesNotMatch(text, /lister/)
    const [refused] = await resultsOf(family.app, session_id)
    assert.equal(refused?.status, 'error')
    assert.match(refused?.content ?? '', /windows/i)
    assert.deepEqual(
      (await family.children()).map(({ agent_id }) => agent_id),
      ['scribe'],
    )
  })

  test('case 115: a parent without a list of tools passes on the browser; any other only what it lists', async (t) => {
    const roles = { lead: [spawning({ agent: 'scribe', task: 'go' }), WAIT_FOR_AGENTS] }
    const family = await openFamily(t, roles, { yaml: AGENTS })
    await family.run()
    await family.app.run('run', { task: 'lead as a lister', agent: 'lister', behaviour: 'lead' })
    const [free, listed] = await family.children()
    assert.ok(toolsOf(free).includes('browser'))
    assert.deepEqual([...toolsOf(listed)].sort(), ['finish', 'spawn_agent', 'view_file', 'wait'])
  })
})
