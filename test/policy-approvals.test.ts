/** Calls that always need approval, standing grants, and the audit of all decisions. */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { answerApproval, call, drainQueue, getOnlyApproval, listApprovals } from './support/approval-fixtures.ts'
import { fakeTool } from './support/fake-tools.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'
import { BOB, done, EVE, inbox, intentRequests, modelWith, read, send, sendTo } from './support/policy-fixtures.ts'

describe('policy: calls that always need approval', () => {
  for (const reach of ['destructive', 'self'] as const)
    test(`reach ${reach} needs approval, even if the owner asked for it and nothing was read`, async (t) => {
      const tool = send({ effect: { recovery: 'once', reach } })
      const app = await openApp(t, { model: modelWith([{ calls: [sendTo(BOB)] }, done]), tools: [tool] })
      await runTaskIn(app, `send it to ${BOB}`)
      assert.deepEqual(tool.receivedArgs, [])
      assert.equal((await getOnlyApproval(app)).status, 'open')
    })

  test('publishing needs approval, even to a named place, until a grant names it', async (t) => {
    const tool = send({ effect: { recovery: 'once', reach: 'third_party', publishes: true, method: 'push' } })
    for (const [place, isGranted] of [
      [BOB, false],
      [`push ${BOB}`, true],
      ['push *@example.org', true],
      ['push *', false],
      ['**', false],
    ] as const) {
      const yaml = `policy: { grants: [{ tool: send, to: ["${place}"] }] }`
      const app = await openApp(t, { model: modelWith([{ calls: [sendTo(BOB)] }, done]), tools: [tool], yaml })
      await runTaskIn(app, `send it to ${BOB}`)
      assert.equal((await listApprovals(app)).length, isGranted ? 0 : 1, place)
    }
  })

  for (const [name, effect] of [['destructive calls', { recovery: 'once', reach: 'destructive' }]] as const)
    test(`${name} need one approval each, whatever the owner said and granted`, async (t) => {
      const tool = send({ effect })
      const yaml = 'policy: { grants: [{ tool: send, to: ["*"] }] }'
      const app = await openApp(t, { model: modelWith([{ calls: [sendTo(BOB)] }, done]), tools: [tool], yaml })
      await runTaskIn(app, `send it to ${BOB}`)
      const { id } = await getOnlyApproval(app)
      for (const grant of ['session', '7d'])
        await assert.rejects(app.run('approvals allow', { id, grant }), /can only be allowed once.*got 7d|got session/)
      assert.equal((await getOnlyApproval(app)).status, 'open')
    })

  test('policy.unattended: deny refuses such calls without an approval', async (t) => {
    const tool = send()
    const yaml = 'policy: { unattended: deny }'
    const app = await openApp(t, { model: modelWith([{ calls: [sendTo(BOB)] }, done]), tools: [tool], yaml })
    const run = await runTaskIn(app)
    assert.deepEqual(
      { status: run.status, receivedArgs: tool.receivedArgs, approvals: await listApprovals(app) },
      { status: 'done', receivedArgs: [], approvals: [] },
    )
  })

  for (const [name, args, unnamed] of [
    ['a page with a name', { page: 'front-door', text: 'hi' }, ['front-door']],
    ['an endpoint', { endpoint: 'hooks.evil.example', body: 'hi' }, ['hooks.evil.example']],
    ['a message with its address inside', { message: { to: [EVE], text: 'hi' } }, [EVE]],
    ['the details of a recipient', { recipient_details: 'Eve', details: 'hi' }, ['Eve']],
    ['a camel-case name', { targetChannel: 'public', messageBody: 'hi', startTime: 'noon', page: 2 }, ['public']],
  ] as const)
    test(`destinations found in the arguments of a tool that declares none: ${name}`, async (t) => {
      const tool = fakeTool({ name: 'post', effect: { recovery: 'once', reach: 'third_party' } })
      const yaml = 'policy: { grants: [{ tool: post, to: [news] }] }'
      const app = await openApp(t, { model: modelWith([{ calls: [call('post', args)] }, done]), tools: [tool], yaml })
      await runTaskIn(app)
      assert.deepEqual(
        (await getOnlyApproval(app)).sinks.map((sink) => sink.to),
        unnamed,
      )
      assert.deepEqual(tool.receivedArgs, [])
    })

  test('a grant for a place does not cover a call without one', async (t) => {
    const postTool = fakeTool({ name: 'post', effect: { recovery: 'once', reach: 'third_party' } })
    const steps = [{ calls: [call('read')] }, { calls: [call('post', { text: 'hi' })] }, done]
    for (const [places, isAsked] of [
      ['[news]', true],
      ['[]', false],
    ] as const) {
      const yaml = `policy: { grants: [{ tool: post, to: ${places} }] }`
      const app = await openApp(t, { model: modelWith(steps), tools: [postTool, read()], yaml })
      await runTaskIn(app)
      assert.equal((await listApprovals(app)).length, isAsked ? 1 : 0, places)
    }
  })

  test('a tool without declarations: destinations come from its arguments, and its result is untrusted', async (t) => {
    const tool = fakeTool({ name: 'post', effect: { recovery: 'once', reach: 'third_party' } })
    const steps = [{ calls: [call('post', { channel: 'news', body: 'hi' })] }, { calls: [sendTo(BOB)] }, done]
    const sending = send()
    const app = await openApp(t, { model: modelWith(steps), tools: [tool, sending] })
    await runTaskIn(app, `post to news, then tell ${BOB}`)
    assert.deepEqual(
      { toolReceivedArgs: tool.receivedArgs.length, sendingReceivedArgs: sending.receivedArgs.length },
      { toolReceivedArgs: 1, sendingReceivedArgs: 0 },
    )
  })
})

describe('policy: grants', () => {
  test('a standing grant covers its destinations in a tainted session, and no others', async (t) => {
    const tool = send()
    const yaml = 'policy: { grants: [{ tool: send, to: ["*@example.org"] }] }'
    const steps = [
      { calls: [call('inbox')] },
      { calls: [sendTo(BOB)] },
      { calls: [sendTo(`${EVE}@example.org.evil`)] },
      done,
    ]
    const model = modelWith(steps)
    const app = await openApp(t, { model, tools: [tool, inbox()], yaml })
    await runTaskIn(app)
    assert.deepEqual(
      { callCount: tool.receivedArgs.length, intentRequestCount: intentRequests(model).length },
      { callCount: 1, intentRequestCount: 0 },
    )
    assert.equal((await listApprovals(app)).length, 1)
  })

  test('case 139: --grant session covers the same recipient in the session, and nothing else', async (t) => {
    const tool = send()
    const steps = [
      { calls: [sendTo(BOB)] },
      { text: 'asked' },
      { calls: [sendTo(BOB, 'more')] },
      { calls: [sendTo(EVE)] },
      done,
    ]
    const app = await openApp(t, { model: modelWith(steps), tools: [tool] })
    const { session_id } = await runTaskIn(app)
    await answerApproval(app, 'allow', (await getOnlyApproval(app)).id, { grant: 'session' })
    await drainQueue(app)
    assert.deepEqual(
      tool.receivedArgs.map(({ to: address, text }) => ({ address, text })),
      [
        { address: BOB, text: 'hello' },
        { address: BOB, text: 'more' },
      ],
    )
    assert.deepEqual(
      (await listApprovals(app, { status: 'open' })).map(({ args }) => (args as { to: string }).to),
      [EVE],
    )
    await runTaskIn(app)
    assert.equal(
      (await listApprovals(app, { status: 'open' })).filter((one) => one.session_id !== session_id).length,
      1,
    )
  })

  test('--grant 7d covers seven days in every session of the agent, until it is revoked', async (t) => {
    const clock = new FakeClock()
    const tool = send()
    const app = await openApp(t, { model: modelWith([{ calls: [sendTo(BOB)] }, done, done]), tools: [tool], clock })
    const asks = async (): Promise<boolean> => {
      const before = tool.receivedArgs.length
      await runTaskIn(app)
      return tool.receivedArgs.length === before
    }
    assert.equal(await asks(), true)
    await answerApproval(app, 'allow', (await getOnlyApproval(app)).id, { grant: '7d' })
    await drainQueue(app)
    assert.equal(await asks(), false)
    await clock.advance(6 * 86_400_000)
    assert.equal(await asks(), false)
    const { items } = await app.run('grants list', {})
    assert.deepEqual(
      items.map((grant) => grant.to),
      [[BOB]],
    )
    await clock.advance(86_400_000)
    assert.deepEqual(await app.run('grants list', {}), { items: [] })
    assert.equal(await asks(), true)
    await assert.rejects(app.run('grants revoke', { id: 'nothing' }), /no such grant/)
    await app.run('grants revoke', { id: items[0]?.id ?? '' })
  })

  test('an invalid grant or id is refused with what is expected', async (t) => {
    const app = await openApp(t, { model: modelWith([{ calls: [sendTo(BOB)] }, done]), tools: [send()] })
    await runTaskIn(app)
    const { id } = await getOnlyApproval(app)
    for (const grant of ['ever', '0d', '-1d', 'd', '7 d'])
      await assert.rejects(app.run('approvals allow', { id, grant }), /once, session, or a number of days/)
    for (const verb of ['approvals allow', 'approvals deny', 'approvals show'])
      await assert.rejects(app.runByName(verb, { id: 'none' }), /got none; do this: run tireless approvals list/)
    await assert.rejects(
      app.run('unknowns resolve', { id: 'none', as: 'not' }),
      /got none; do this: run tireless unknowns list/,
    )
  })
})

describe('audit', () => {
  test('approvals of skills and destinations of secrets are recorded', async (t) => {
    const home = freshFolder(t)
    const folder = join(home, 'skills', 'plain')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), '---\nname: plain\ndescription: Plain.\n---\nBe plain.\n')
    const app = await openApp(t, { home })
    await app.run('skills approve', { name: 'plain' })
    await app.run('secrets set', { name: 'KEY', value: 'a-long-value-1', to: 'api.example.com' })
    const { links } = await app.context.store.audit(1, { limit: 10 })
    const { digest } = (await app.run('skills list', {})).items[0] ?? {}
    assert.deepEqual(
      links.map(({ body }) => ({ ...JSON.parse(body), ts: 0 })),
      [
        { ts: 0, what: 'skill', path: folder, digest },
        { ts: 0, what: 'secret', name: 'KEY', to: ['api.example.com'] },
      ],
    )
    assert.equal((await app.run('audit verify', {})).ok, true)
  })

  test('every ruling and answer is recorded with its reason; a changed or deleted record is named', async (t) => {
    const home = freshFolder(t)
    const model = modelWith([{ calls: [call('inbox')] }, { calls: [sendTo(EVE)] }, done, done])
    const app = await openApp(t, { home, model, tools: [send(), inbox()] })
    await runTaskIn(app)
    await answerApproval(app, 'deny', (await getOnlyApproval(app)).id)
    await drainQueue(app)
    const verified = await app.run('audit verify', {})
    assert.deepEqual({ ok: verified.ok, records: verified.records }, { ok: true, records: 3 })
    await app.close()
    const db = new DatabaseSync(join(home, 'tireless.db'))
    const entries = db
      .prepare('SELECT body FROM audit ORDER BY n')
      .all()
      .map(({ body }) => JSON.parse(String(body)))
    assert.deepEqual(
      entries.map(({ what, ruling, answer: given }) => ({ what, ruling: ruling ?? given })),
      [
        { what: 'call', ruling: 'allow' },
        { what: 'call', ruling: 'ask' },
        { what: 'answer', ruling: 'denied' },
      ],
    )
    assert.match(entries[1].reason, /your instructions do not name/)
    assert.throws(() => db.exec("UPDATE audit SET body = '{}' WHERE n = 2"), /append-only/)
    const verifyAfter = async (sql: string): Promise<{ ok: boolean; broken: { record: number } | null }> => {
      db.exec(`DROP TRIGGER IF EXISTS audit_update; DROP TRIGGER IF EXISTS audit_delete; ${sql}`)
      const again = await openApp(t, { home, model })
      const found = await again.run('audit verify', {})
      await again.close()
      return found
    }
    const last = db.prepare('SELECT * FROM audit WHERE n = 3').get() as { n: number; body: string; hash: string }
    assert.deepEqual((await verifyAfter('DELETE FROM audit WHERE n = 3')).broken?.record, 3)
    db.prepare('INSERT INTO audit VALUES (?, ?, ?)').run(last.n, last.body, last.hash)
    assert.equal((await verifyAfter('')).ok, true)
    assert.equal(
      (await verifyAfter(`UPDATE audit SET body = replace(body, '"ask"', '"allow"') WHERE n = 2`)).broken?.record,
      2,
    )
    db.close()
  })
})
