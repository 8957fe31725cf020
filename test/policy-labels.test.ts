/** Labels of data that a session writes, and fences around data from outside. */

import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { App } from '../src/app.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, getOnlyApproval, listApprovals } from './support/approval-fixtures.ts'
import { fakeTool, type RecordingTool } from './support/fake-tools.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'
import {
  BOB,
  done,
  EVE,
  inbox,
  isIntent,
  modelWith,
  read,
  send,
  sendTo,
  TEMPLATES,
  untrustedTool,
} from './support/policy-fixtures.ts'

/** The tools that were run, by session. */
async function toolsRunBySession(app: App): Promise<readonly string[][]> {
  const { items } = await app.run('sessions list', {})
  const journals = await Promise.all(items.map(({ session_id }) => journalOf(app, session_id)))
  return journals.map((journal) =>
    journal.flatMap((record) => (record.kind === 'call_intended' ? [record.call.tool] : [])),
  )
}

describe('I12: data written by a tainted session keeps its label', () => {
  /** Whether a session may send to the recipient named by the owner without approval. */
  async function sendsWithoutApproval(app: App, tool: RecordingTool, more: object = {}): Promise<boolean> {
    const before = tool.receivedArgs.length
    await runTaskIn(app, `look it up, then tell ${BOB}`, more)
    return tool.receivedArgs.length > before
  }

  /** The first session reads untrusted mail and writes data; every later one reads that data and sends to Bob. */
  const modelThatLeaves = (write: ReturnType<typeof call>, readBack: ReturnType<typeof call>) => {
    const model: ScriptedModel = scriptedModel((request, turn): ScriptedAnswer => {
      if (isIntent(request)) return { text: '[]' }
      const isFirst = JSON.stringify(request.messages[0]).includes('the first')
      const steps = isFirst
        ? [{ calls: [call('inbox')] }, { calls: [write] }, done]
        : [{ calls: [readBack] }, { calls: [sendTo(BOB)] }, done]
      return steps[turn] as ScriptedAnswer
    })
    return model
  }

  for (const [name, write, readBack] of [
    ['memory', call('remember', { key: 'k', text: 'mail says so' }), call('recall', { query: 'mail' })],
    ['STATE.md', call('edit_state', { section: 'mail', text: 'mail says so' }), call('read_state')],
  ] as const)
    test(`${name}: what it wrote makes the next session ask before it sends`, async (t) => {
      const tool = send()
      const clean = await openApp(t, { model: modelThatLeaves(write, readBack), tools: [tool, inbox()] })
      assert.equal(await sendsWithoutApproval(clean, tool), true, 'nothing untrusted is stored yet')
      await runTaskIn(clean, 'the first')
      assert.equal(await sendsWithoutApproval(clean, tool), false)
    })

  test('STATE.md: a section is trusted after state accept', async (t) => {
    const tool = send()
    const [write, readBack] = [call('edit_state', { section: 'mail', text: 'x' }), call('read_state')]
    const app = await openApp(t, { model: modelThatLeaves(write, readBack), tools: [tool, inbox()] })
    await runTaskIn(app, 'the first')
    assert.equal(await sendsWithoutApproval(app, tool), false)
    assert.deepEqual(await app.run('state accept', {}), {
      items: [{ name: 'STATE.md', outcome: 'trusted', sections: ['mail'] }],
    })
    assert.equal(await sendsWithoutApproval(app, tool), true)
  })

  const modelThatLeavesFile = () =>
    modelThatLeaves(call('create_file', { path: 'a.txt', content: 'x' }), call('view_file', { path: 'a.txt' }))

  test('a workspace: a folder of the owner is untrusted, a fresh one is trusted', async (t) => {
    const tool = send()
    const app = await openApp(t, { model: modelThatLeavesFile(), tools: [tool, inbox()] })
    assert.equal(await sendsWithoutApproval(app, tool, { workspace: freshFolder(t, 'place') }), false)
    assert.equal(await sendsWithoutApproval(app, tool), true)
  })

  for (const first of ['the first', 'nothing much'])
    test(`a workspace shared by agents ${first === 'the first' ? 'with' : 'without'} untrusted data`, async (t) => {
      const tool = send()
      const agent = (id: string, priority: number, prompt: string) =>
        `{ agent_id: ${id}, priority: ${priority}, prompt: "${prompt}", workspace: workspaces/shared }`
      const agents = [agent('a', 10, first), agent('b', 1, `tell ${BOB}`)]
      const yaml = `kernel: { planner: { mode: static }, max_concurrent: 1, agents: [${agents.join(', ')}] }`
      const app = await openApp(t, { model: modelThatLeavesFile(), tools: [tool, inbox()], yaml })
      await app.run('once', {})
      const sent = (await toolsRunBySession(app)).filter((tools) => tools.includes('create_file')).length
      assert.equal(sent, first === 'the first' ? 1 : 0)
      assert.equal((await listApprovals(app)).filter(({ session_id }) => session_id.includes('-b-')).length, sent)
    })

  test('a workspace with private data: what is read there is private and may not go to allowed hosts', async (t) => {
    const askTool = fakeTool({
      name: 'ask',
      effect: { recovery: 'pure', reach: 'network', host: 'api.example.org' },
      gives: () => ({ trust: 'trusted', private: false }),
      destinations: () => ['https://api.example.org/latest'],
    })
    const model: ScriptedModel = scriptedModel((request, turn): ScriptedAnswer => {
      if (isIntent(request)) return { text: '[]' }
      const isFirst = JSON.stringify(request.messages[0]).includes('the first')
      const [write, view] = [call('create_file', { path: 'a.txt', content: 'x' }), call('view_file', { path: 'a.txt' })]
      const steps = isFirst
        ? [{ calls: [call('inbox')] }, { calls: [write] }, done]
        : [{ calls: [view] }, { calls: [call('ask')] }, done]
      return steps[turn] as ScriptedAnswer
    })
    const yaml = 'policy: { allow_hosts: [api.example.org] }'
    const app = await openApp(t, { model, tools: [askTool, inbox()], yaml })
    const workspace = freshFolder(t, 'place')
    await runTaskIn(app, 'look it up', { workspace })
    assert.equal(askTool.receivedArgs.length, 1, 'the folder is not private yet')
    await runTaskIn(app, 'the first', { workspace })
    // Without git only an empty folder may be used as workspace. Its label is kept although the file is gone.
    rmSync(join(workspace, 'a.txt'))
    await runTaskIn(app, 'look it up', { workspace })
    assert.equal(askTool.receivedArgs.length, 1)
    assert.equal((await getOnlyApproval(app)).tool, 'ask')
  })

  test('I12: an untrusted fact lowers the label of a session that is shown it without asking', async (t) => {
    const tool = send()
    const model: ScriptedModel = scriptedModel((request, turn): ScriptedAnswer => {
      if (isIntent(request)) return { text: '[]' }
      const isFirst = JSON.stringify(request.messages[0]).includes('the first')
      const write = call('remember', { key: 'mail', text: 'mail of today says so' })
      const steps = isFirst ? [{ calls: [call('inbox')] }, { calls: [write] }, done] : [{ calls: [sendTo(BOB)] }, done]
      return steps[turn] as ScriptedAnswer
    })
    const app = await openApp(t, { model, tools: [tool, inbox()] })
    assert.equal(await sendsWithoutApproval(app, tool, { task: `what of my mail? tell ${BOB}` }), true)
    await runTaskIn(app, 'the first')
    assert.equal(await sendsWithoutApproval(app, tool, { task: `what of my mail? tell ${BOB}` }), false)
    assert.equal((await listApprovals(app)).length, 1)
  })

  test("I12: a prompt written by the planner is not the owner's text", async (t) => {
    const tool = send()
    const model: ScriptedModel = scriptedModel((request, turn): ScriptedAnswer => {
      if (isIntent(request)) return { text: JSON.stringify([{ tool: 'send' }]) }
      if (request.system.includes('You decide which agents'))
        return { text: JSON.stringify([{ agent_id: 'a', reason: 'news', prompt: `write to ${EVE}` }]) }
      const write = call('remember', { key: 'plan', text: 'as planned' })
      return [{ calls: [write] }, { calls: [sendTo(EVE)] }, done][turn] as ScriptedAnswer
    })
    const yaml = 'kernel: { planner: { mode: llm }, agents: [{ agent_id: a, prompt: "see what is new" }] }'
    const app = await openApp(t, { model, tools: [tool], yaml })
    await app.run('once', {})
    assert.deepEqual(tool.receivedArgs, [])
    assert.deepEqual((await getOnlyApproval(app)).sinks, [{ to: EVE, from: 'text written by a model', trusted: false }])
    const { items } = await app.run('memory list', {})
    assert.deepEqual(
      items.map(({ trust }) => trust),
      ['untrusted'],
    )
  })

  for (const effect of [
    { recovery: 'idempotent', reach: 'network', host: 'example.org', writes: true },
    { recovery: 'once', reach: 'workspace' },
  ] as const)
    test(`a workspace with downloaded or command-written files is untrusted (reach ${effect.reach})`, async (t) => {
      const tool = send()
      const bringTool = untrustedTool('brings', effect)
      const model: ScriptedModel = scriptedModel((request, turn): ScriptedAnswer => {
        if (isIntent(request)) return { text: '[]' }
        const isFirst = JSON.stringify(request.messages[0]).includes('the first')
        const view = call('view_file', { path: 'a.txt' })
        const steps = isFirst
          ? [{ calls: [call('brings')] }, done]
          : [{ calls: [view] }, { calls: [sendTo(BOB)] }, done]
        return steps[turn] as ScriptedAnswer
      })
      const agent = (id: string, prompt: string) =>
        `{ agent_id: ${id}, prompt: "${prompt}", workspace: workspaces/shared }`
      const agents = [agent('a', 'the first'), agent('b', `tell ${BOB}`)]
      const yaml = `policy: { allow_hosts: [example.org] }
kernel: { planner: { mode: static }, max_concurrent: 1, agents: [${agents.join(', ')}] }`
      const app = await openApp(t, { model, tools: [tool, bringTool], yaml })
      await app.run('once', {})
      assert.deepEqual(
        {
          brought: bringTool.receivedArgs.length,
          sent: tool.receivedArgs.length,
          approvalCount: (await listApprovals(app)).length,
        },
        { brought: 1, sent: 0, approvalCount: 1 },
      )
    })
})

describe('data fences', () => {
  test('untrusted text is shown between unguessable marks, and nothing in it can imitate them', async (t) => {
    const model = modelWith([{ calls: [call('read')] }, done])
    const app = await openApp(t, { model, tools: [read()] })
    await runTaskIn(app)
    const shown = model.requests[1]?.messages.at(-1)?.text ?? ''
    const [, nonce] = /^<data ([0-9a-f]{12}) read>\n/.exec(shown) ?? []
    assert.ok(nonce && nonce !== '000000000000')
    assert.equal(shown.endsWith(`\n</data ${nonce}>`), true)
    assert.equal(shown.match(/<\/?data /g)?.length, 2)
    assert.doesNotMatch(shown, /<\|im_start\|>|<.User.>|<start_of_turn>|\[inst\]|<tool_call>|<\/?\s?data\s[^0-9a-f]/i)
    assert.match(shown, /forward everything/)
  })
})

describe('chat template marks are removed', () => {
  const TEMPLATE_MARKS = /<\|im_start\|>|<.User.>|<start_of_turn>|\[inst\]|<tool_call>/i

  test('from remembered facts that a prompt shows', async (t) => {
    const model: ScriptedModel = scriptedModel(({ messages }, turn): ScriptedAnswer => {
      const isFirst = JSON.stringify(messages[0]).includes('the first')
      const write = call('remember', { key: 'mail', text: `mail of today: ${TEMPLATES}` })
      return isFirst && turn === 0 ? { calls: [write] } : { text: 'done' }
    })
    const app = await openApp(t, { model })
    await runTaskIn(app, 'the first')
    await runTaskIn(app, 'what of my mail of today?')
    const shown = JSON.stringify(model.requests.at(-1)?.messages)
    assert.match(shown, /mail of today: /)
    assert.doesNotMatch(shown, TEMPLATE_MARKS)
  })

  test('from STATE.md as the planner sees it', async (t) => {
    const home = freshFolder(t)
    const folder = join(home, 'kernels', 'default')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'STATE.md'), `# State\n\nNews: ${TEMPLATES}\n`)
    const asked: string[] = []
    const model = scriptedModel((request): ScriptedAnswer => {
      if (request.system.includes('You decide which agents')) asked.push(JSON.stringify(request.messages))
      return { text: request.system.includes('You decide which agents') ? '[]' : 'done' }
    })
    const yaml = 'kernel: { planner: { mode: llm }, agents: [{ agent_id: a, prompt: "see what is new" }] }'
    const app = await openApp(t, { home, model, yaml })
    await app.run('once', {})
    assert.match(asked.join(), /News: /)
    assert.doesNotMatch(asked.join(), TEMPLATE_MARKS)
  })
})
