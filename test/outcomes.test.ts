/** Finished work shows what came of it: the result, the files and the trace, not the prompt. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deliveredTexts, openChatKernel, runCycle } from './support/chat-kernel.ts'
import { createHome, tireless, tirelessJson, tirelessWith } from './support/command-line.ts'

const WRITE = { tool: 'create_file', args: { path: 'report.md', content: 'All three servers answer.' } }
const ANSWER = '## Execution Summary\n\nAll three servers answer; the details are in report.md.\nNothing to do.'

interface Ran {
  readonly dispatch_id: string
  readonly session_id: string
  readonly workspace: string
  readonly files: readonly string[]
}

test('run, queue and sessions show the result, the files and the trace of finished work', async (t) => {
  const home = await createHome(t, [{ calls: [WRITE] }, { text: ANSWER }, { calls: [WRITE] }, { text: ANSWER }])
  const shown = await tireless(home, 'run', 'Check the servers', '--behaviour', 'solo')
  assert.equal(shown.stdout.trim(), ANSWER)
  assert.match(shown.stderr, /^Working in .*\/workspaces\//m)
  assert.match(shown.stderr, /^Wrote .*\/report\.md$/m)
  assert.match(shown.stderr, /^Trace: tireless trace show \S+$/m)
  const { items } = await tirelessJson<{ items: Ran[] }>(home, 'queue', 'list')
  const [{ dispatch_id, session_id } = assert.fail('nothing listed')] = items
  const { workspace, files } = await tirelessJson<Ran>(home, 'queue', 'show', dispatch_id)
  assert.deepEqual(files, [join(workspace, 'report.md')])
  const list = (await tireless(home, 'queue', 'list')).stdout
  assert.match(
    list,
    /^dispatch_id +agent_id +status +outcome +title\n.* All three servers answer; the details.* Check the/,
  )
  assert.doesNotMatch(list, /Execution Summary/)
  for (const args of [
    ['queue', 'show', dispatch_id],
    ['sessions', 'show', session_id],
  ]) {
    const { stdout } = await tireless(home, ...args)
    assert.match(stdout, /All three servers answer; the details are in report\.md\./)
    assert.ok(stdout.includes(`wrote: ${workspace}/report.md\n`), stdout)
    assert.ok(stdout.includes(`trace: tireless trace show ${dispatch_id}`), stdout)
    assert.ok(stdout.includes(`folder: ${workspace}\n`), stdout)
  }
})

test('a task says where it works when it is queued, also when it was queued before', async (t) => {
  const home = await createHome(t, [{ text: 'done' }])
  const enqueue = () => tirelessJson<Ran & { duplicate: boolean }>(home, 'enqueue', '--prompt', 'Look', '--key', 'k')
  const first = await enqueue()
  assert.equal(first.workspace, join(home, 'workspaces', first.session_id))
  const again = await enqueue()
  assert.deepEqual(
    { duplicate: again.duplicate, workspace: again.workspace },
    { duplicate: true, workspace: first.workspace },
  )
})

test('once, cycles show and the notice of a cycle name what came of the work, with its files', async (t) => {
  const home = await openChatKernel(t)
  const result = await runCycle(home)
  const [{ agent_id, files = [] } = assert.fail('no agent ran')] = result.agents
  const [file = ''] = files
  assert.ok(file.startsWith(join(home.home, 'workspaces', agent_id)) && existsSync(file), file)
  const shown = await home.app.run('cycles show', {})
  assert.deepEqual([shown.cycle_id, shown.result?.agents], [result.cycle_id, result.agents])
  assert.equal((await home.app.run('cycles show', { id: result.cycle_id.slice(-6) })).cycle_id, result.cycle_id)
  await assert.rejects(home.app.run('cycles show', { id: 'nope' }), /no such cycle; got nope/)
  const [notice = ''] = deliveredTexts(home)
  assert.ok(notice.includes(`\n    - wrote: ${file}\n`), notice)
  await home.app.close()
  for (const [lang, word] of [
    ['en_US.UTF-8', 'wrote'],
    ['zh_CN.UTF-8', '写入'],
  ] as const) {
    const { stdout } = await tirelessWith({ ...process.env, LC_ALL: lang }, home.home, 'cycles', 'show')
    assert.ok(stdout.includes(`\n  ${word} ${file}\n`), stdout)
    assert.match(stdout, new RegExp(`\\n${agent_id} done `))
  }
})
