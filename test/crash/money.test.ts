import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chance } from '../sim/random.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { startPaidProvider } from '../support/paid-provider.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')
const KILLS = 4

test('case 140: 50 workers, repeated kill -9: charges stay below the cap of one dollar', async (t) => {
  const prices = { m1: { input: 0.2, output: 4 }, m2: { input: 1.4, output: 0.2 }, m3: { input: 0.06, output: 12 } }
  const provider = await startPaidProvider(t, prices, 141)
  const home = freshFolder(t)
  const agents = Object.keys(prices).map((name) => `{ agent_id: ${name}, prompt: p, model: local/${name} }`)
  const listed = Object.fromEntries(Object.entries(prices).map(([name, price]) => [`local/${name}`, price]))
  writeFileSync(
    join(home, 'tireless.yaml'),
    `kernel: { max_concurrent: 50, agents: [${agents.join(', ')}] }
models:
  default: local/m1
  max_output: 500
  providers: { local: { type: openai-compatible, base_url: "${provider.url}", stream: false } }
  prices: ${JSON.stringify(listed)}
budget: { per_day_usd: 1 }`,
  )
  const first = await openApp(t, { home })
  for (let n = 0; n < 400; n++) await first.run('enqueue', { agent: `m${(n % 3) + 1}`, prompt: `task ${n}` })
  await first.close()
  for (let kill = 0; kill < KILLS; kill++) {
    const before = provider.calls()
    const flags = ['--disable-warning=ExperimentalWarning', CLI, 'start', '--until-idle', '--home', home]
    const child = spawn(process.execPath, flags, { stdio: 'ignore' })
    const ended = new Promise((over) => child.once('exit', over))
    // Killed during its work: after this many answers, or when it exits earlier.
    const enough = before + 30 + Math.floor(chance(kill, 'answers') * 40)
    while (child.exitCode === null && provider.calls() < enough) await pause(1)
    child.kill('SIGKILL')
    await ended
    assert.ok(provider.charged() <= 1, `${provider.charged()} USD were charged`)
  }
  const app = await openApp(t, { home })
  await app.run('start', { until_idle: true })
  const { today } = await app.run('budget show', {})
  assert.ok(provider.charged() <= today.usd + 1e-9, `${provider.charged()} charged, ${today.usd} booked`)
  assert.ok(today.usd <= 1, `${today.usd} booked`)
  // A request that the kill cut off may have been charged, so it stays booked in full: the bookings reach the cap.
  assert.ok(today.usd > 0.95, `only ${today.usd} booked`)
  assert.ok(provider.charged() > 0.1, `only ${provider.charged()} spent`)
  const { items } = await app.run('queue list', { limit: 1000 })
  assert.deepEqual([...new Set(items.map(({ status, failure_class }) => `${status} ${failure_class}`))].toSorted(), [
    'done null',
    'failed budget',
  ])
})
