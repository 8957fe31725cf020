import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shortId } from '../src/domain/short-id.ts'
import { askAndWait, call, listApprovals, sendTool } from './support/approval-fixtures.ts'
import { tireless } from './support/command-line.ts'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

const UNKNOWN = { code: 'not_found' }

describe('shortened ids', () => {
  test('the short ids of tables can be typed back, and so can `last`, over the command line and HTTP', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    await runTaskIn(app, 'create a file a.txt with the content "x"')
    await runTaskIn(app, 'read a.txt')
    await app.close()
    for (const group of ['queue', 'sessions', 'trace']) {
      const { stdout } = await tireless(home, group, 'list')
      const [, newest = '', older = ''] = stdout.split('\n').map((line) => line.split(' ')[0] ?? '')
      assert.match(newest, /^[0-9a-f]{8}$/, group)
      for (const [typed, is] of [
        [older, older],
        ['last', newest],
      ] as const) {
        const shown = await tireless(home, group, 'show', typed)
        assert.equal(shown.exit, 0, shown.stderr)
        assert.ok(shown.stdout.includes(is), `${group} show ${typed}`)
      }
    }
    const http = await openHttpApp(t, { home })
    const response = await sendRequest(http, '/api/v1/queue/show?id=last', { headers: http.bearer })
    assert.match(response.json<{ prompt: string }>().prompt, /read a\.txt/)
  })

  test('an ambiguous beginning is refused with the candidates; an unknown one as before', async (t) => {
    const app = await openApp(t)
    const { dispatch_id: one } = await app.run('enqueue', { prompt: 'water the plants' })
    const { dispatch_id: two } = await app.run('enqueue', { prompt: 'feed the cat' })
    const common = [...one].findIndex((letter, i) => letter !== two[i])
    await assert.rejects(app.run('queue show', { id: one.slice(0, Math.max(common, 4)) }), ({ code, message }) => {
      assert.equal(code, 'usage')
      for (const part of [shortId(one), 'water the plants', shortId(two), 'feed the cat', 'type more of the id'])
        assert.ok(message.includes(part), part)
      return true
    })
    assert.equal((await app.run('queue show', { id: one.slice(0, common + 1) })).dispatch_id, one)
    await assert.rejects(app.run('queue show', { id: one.slice(0, 3) }), UNKNOWN)
    await assert.rejects(app.run('queue show', { id: 'nosuch' }), UNKNOWN)
  })

  test('names are completed too; the whole name of one that begins like another stays that one', async (t) => {
    const yaml =
      'kernel:\n  agents:\n    - { agent_id: writer, prompt: write }\n    - { agent_id: writer-two, prompt: x }\n' +
      '    - { agent_id: reader, prompt: read }\n'
    const app = await openApp(t, { yaml })
    const agentOf = async (agent: string) => (await app.run('enqueue', { agent, prompt: 'x' })).session_id
    assert.match(await agentOf('rea'), /^reader-/)
    assert.match(await agentOf('writer'), /^writer-0/)
    await assert.rejects(agentOf('wri'), /this stands for several agents.*writer, writer-two/)
  })

  test('`last` is refused if several approvals are open: no call is allowed unseen', async (t) => {
    const model = askAndWait(call('send', { to: 'a' }), call('send', { to: 'b' }))
    const app = await openApp(t, { model, tools: [sendTool()] })
    await runTaskIn(app)
    const [first, second] = await listApprovals(app)
    assert.ok(first && second)
    await assert.rejects(app.run('approvals allow', { id: 'last' }), /this stands for several approvals/)
    assert.match(shortId(first.id), /^[0-9a-f]{8}\.\d+\.\d+$/)
    assert.equal((await app.run('approvals allow', { id: shortId(first.id) })).id, first.id)
    assert.equal((await app.run('approvals allow', { id: 'last' })).id, second.id)
  })
})
