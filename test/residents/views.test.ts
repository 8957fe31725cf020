/** What people see of residents: in status, observe, attach, titles, health, doctor and metrics. */

import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { render } from '../../src/cli/views/views.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { exportHtml } from '../../src/trace/export.ts'
import { createHome, startKernelIn, startTireless, tireless, tirelessWith } from '../support/command-line.ts'
import { sendRequest } from '../support/http-app.ts'
import { freshFolder, openApp, waitUntil } from '../support/open-app.ts'
import { openResidence } from '../support/residents.ts'

const action = (type: string, payload: string, known: object = {}) => ({
  text: JSON.stringify({ thought: 'secret thought', action: { type, payload }, known }),
})
const GUIDE = { agent_id: 'guide', hz: 5, slots: ['city', 'day'] }
const HOUR = 3_600_000

async function homeOfGuide(t: Parameters<typeof createHome>[0]): Promise<string> {
  // Each look is a conversation of its own.
  const home = await createHome(t, {
    conversations: [
      { match: 'Paris', turns: [action('query', 'On which\n day?', { city: 'Paris' })] },
      // This look is under way when the view is opened.
      { match: 'sound', turns: [{ ...action('noop', 'all is quiet'), delay_ms: 2000 }] },
    ],
    turns: [action('noop', 'all is quiet')],
  })
  appendFileSync(join(home, 'tireless.yaml'), `residents: ${JSON.stringify([GUIDE])}\n`)
  return home
}

describe('E14: residents for people', () => {
  test('E14: status, observe and attach say what residents know and lack, and why they do nothing', async (t) => {
    const home = await homeOfGuide(t)
    const observe = async (...args: string[]) => (await tireless(home, 'observe', '--agent', 'guide', ...args)).stdout
    assert.match(await observe('--type', 'sound'), /^Kept\. guide sees it after: tireless start$/m)
    const lost = await tireless(home, 'observe', '--agent', 'guide', '--type', 'light', '--payload', '1', '--latest')
    assert.equal(lost.exit, 1)
    assert.match(lost.stderr, /none runs; this one is not kept; do this: tireless start/)
    const stopped = (await tireless(home, 'status')).stdout
    assert.match(stopped, /^residents +guide: idle, 5 Hz, has not looked yet, 1 unread, it looks after/m)
    assert.match(stopped, /lacks city, day; nothing has happened yet$/m)
    await startKernelIn(t, home)
    const view = startTireless(t, home, 'attach')
    let seen = ''
    view.stderr?.setEncoding('utf8').on('data', (text) => (seen += text))
    await waitUntil(() => /Ctrl-C/.test(seen))
    assert.match(await observe('--type', 'door', '--key', 'k'), /^guide sees it at its next look\./)
    assert.match(await observe('--type', 'door', '--key', 'k'), /^Ignored: .*before\.$/m)
    await waitUntil(() => /guide does nothing: all is quiet/.test(seen))
    await observe('--type', 'user_message', '--payload', 'to Paris')
    await waitUntil(() => /^guide asks: On which day\?$/m.test(seen))
    assert.doesNotMatch(seen, /secret thought|started|asking|ended/)
    await waitUntil(async () => /waits for the answer/.test((await tireless(home, 'status')).stdout))
    const english = (await tireless(home, 'status')).stdout
    assert.match(english, /guide: idle, 5 Hz, looked now; knows city=Paris; lacks day; it has asked, and waits for/)
    const chinese = (await tirelessWith({ ...process.env, LC_ALL: 'zh_CN.UTF-8' }, home, 'status')).stdout
    assert.match(chinese, /guide：空闲，5 Hz，上次看：现在；已知 city=Paris；缺少 day；它提了问题，在等回答$/m)
    assert.match((await tireless(home, 'queue', 'list')).stdout, /a look at what is new/)
  })

  test('E14: a home without residents says nothing about them; a woken run is counted', async (t) => {
    const app = await openApp(t)
    assert.doesNotMatch(render('status', await app.run('status', {})), /resident/)
    const woken = { observation_id: 'o', agent: 'default', latest: false, duplicate: false, woken: 2 }
    assert.equal(render('observe', { ...woken, kernel_running: true }), 'Wakes 2 runs of default.\n')
  })

  test('E14: looks have a title in lists, events, traces and exports', async (t) => {
    const model = scriptedModel(() => action('noop', ''))
    const home = await openResidence(t, { model, residents: [GUIDE] })
    await home.app.run('observe', { agent: 'guide', type: 'door' })
    await home.pass(1000)
    const { app } = home
    const [look] = (await app.run('queue list', {})).items
    const run = look?.dispatch_id ?? ''
    const trace = await app.run('trace show', { run, events: true })
    const title = 'a look at what is new'
    assert.equal(look?.title, title)
    assert.equal(trace.events?.[0]?.payload.title, title)
    assert.equal((await app.run('sessions show', { id: 'resident-guide-1' })).runs[0]?.title, title)
    assert.match(render('trace list', await app.run('trace list', {})), new RegExp(title))
    assert.ok(exportHtml(trace as unknown as Parameters<typeof exportHtml>[0]).includes(`<h1>${title}</h1>`))
  })

  test('E14: a resident that keeps failing is named by health, doctor and metrics, also after a restart', async (t) => {
    let isDown = true
    const answer = () => {
      if (isDown) throw new TirelessError('model_refused', 'no such text')
      return action('noop', '')
    }
    const folder = freshFolder(t)
    const yaml = JSON.stringify({ residents: [GUIDE], server: { port: 0 } })
    const first = await openResidence(t, { home: folder, yaml, model: scriptedModel(answer), residents: [] })
    await first.app.run('observe', { agent: 'guide', type: 'door' })
    await first.pass(1000)
    assert.equal((await first.app.context.health()).ok, true, 'one failure may be chance')
    await first.pass(60_000)
    const failed = /the last \d looks of the resident guide failed: .*no such text/
    assert.match((await first.app.context.health()).reasons.join(), failed)
    const port = Number(new URL((await first.app.context.serveHttp()).url).port)
    const { text } = await sendRequest({ port }, '/metrics')
    assert.match(text, /^tireless_residents\{state="backing_off"\} 1$/m)
    assert.match(
      text,
      /^# TYPE tireless_resident_looks_total counter\ntireless_resident_looks_total\{agent="guide"\} \d$/m,
    )
    assert.match(text, /^tireless_resident_unread\{agent="guide"\} 1$/m)
    await first.stop()
    await first.app.close()
    const { stdout } = await tireless(folder, 'doctor')
    assert.match(stdout, /FAIL {2}residents: the last \d looks of the resident guide failed.*\n +fix: see what failed/)
    isDown = false
    const second = await openResidence(t, { home: folder, yaml, model: scriptedModel(answer), residents: [] })
    await second.pass(HOUR)
    assert.equal((await second.app.context.health()).ok, true)
    const [guide] = (await second.app.run('status', {})).residents
    assert.deepEqual([guide?.failures, guide?.error, guide?.why], [0, null, 'nothing was to be done'])
  })

  test('I8: the status of an idle resident does not change, so that an open page costs nothing', async (t) => {
    const model = scriptedModel(() => action('noop', 'all is quiet'))
    const home = await openResidence(t, { model, residents: [GUIDE] })
    await home.app.run('observe', { agent: 'guide', type: 'door' })
    await home.pass(1000)
    const before = (await home.app.run('status', {})).residents
    await home.pass(60_000)
    assert.deepEqual((await home.app.run('status', {})).residents, before)
  })
})
