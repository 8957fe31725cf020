import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { App } from '../src/app.ts'
import type { Dispatch } from '../src/domain/dispatch.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { FAULTS, type FaultName } from '../src/testing/provider-server/script.ts'
import { startProviderServer } from '../src/testing/provider-server.ts'
import { journalOf, openApp } from './support/open-app.ts'

interface Row {
  readonly fault: FaultName
  readonly codes: readonly string[]
  readonly requests: number
  readonly stays: string
  readonly once: string
}

const documented: Row[] = readFileSync(join(import.meta.dirname, '../docs/faults.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| fault'))
  .map((line) => {
    const [, fault = '', , codes = '', requests = '', stays = '', once = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    return { fault: fault as FaultName, codes: codes.split(', '), requests: Number(requests), stays, once }
  })

const endOf = ({ status, failure_class }: Pick<Dispatch, 'status' | 'failure_class'>): string =>
  failure_class ? `${status}, ${failure_class}` : status

test('docs/faults.md lists every fault of the provider server', () => {
  assert.deepEqual(documented.map(({ fault }) => fault).toSorted(), [...FAULTS].toSorted())
})

const pokeCall = (who: string) => ({ calls: [{ tool: 'poke', args: { who } }] })

/** For each fault one conversation whose fault stays, and one whose fault happens once. */
function faultyConversations() {
  const always = (fault: FaultName) => ({
    ...pokeCall(`stays ${fault}.`),
    faults: Array.from({ length: 9 }, () => fault),
  })
  return documented.flatMap(({ fault }) => [
    { match: `stays ${fault}.`, turns: [always(fault), always(fault), always(fault), always(fault)] },
    {
      match: `once ${fault}.`,
      turns: [{ ...pokeCall(`once ${fault}.`), faults: [fault] }, pokeCall(`once ${fault}.`), { text: 'done' }],
    },
  ])
}

/** A tool that records who called it. */
const pokeTool = (callers: string[]) =>
  defineTool({
    name: 'poke',
    description: 'counts',
    args: z.strictObject({ who: z.string() }),
    effect: () => ({ recovery: 'once', reach: 'workspace' }),
    async run({ who }) {
      callers.push(who)
      return { status: 'ok', content: 'poked' }
    },
  })

/**
 * Runs a task for each conversation. Each has its own provider, because a provider that refuses its key is not asked
 * again. Only the silent ones get a short timeout.
 */
async function runConversations(t: TestContext, options: { type: string; stream: boolean; callers: string[] }) {
  const { type, stream, callers } = options
  const conversations = faultyConversations()
  const server = await startProviderServer({ script: { conversations } })
  t.after(() => server.close())
  const providers = conversations.map(({ match }, n) => [
    `p${n}`,
    {
      ...{ type, stream, base_url: server.url, api_key: 'a-key-for-tests' },
      timeout: /hang|stall/.test(match) ? '2s' : '2m',
    },
  ])
  const app = await openApp(t, {
    tools: [pokeTool(callers)],
    yaml: JSON.stringify({
      kernel: { max_concurrent: 64 },
      models: { default: 'p0/test', providers: Object.fromEntries(providers) },
    }),
  })
  for (const [n, { match }] of conversations.entries()) await app.run('enqueue', { prompt: match, model: `p${n}/test` })
  await app.run('start', { until_idle: true })
  const { items } = await app.run('queue list', { limit: 1000 })
  return { app, server, items }
}

/** The codes of the failures and the answers in a session, without those of decisions. */
async function outcomesIn(app: App, session_id: string): Promise<readonly string[]> {
  return (await journalOf(app, session_id)).flatMap((record) => {
    if (record.kind === 'model_answered') return ['answer']
    return record.kind === 'failed' && !record.code.startsWith('decision_') ? [record.code] : []
  })
}

describe('provider faults over HTTP', () => {
  for (const type of ['openai-compatible', 'anthropic'])
    for (const stream of [true, false])
      test(`${type}, ${stream ? 'streaming' : 'not streaming'}: each fault ends as docs/faults.md says`, async (t) => {
        const callers: string[] = []
        const { app, server, items } = await runConversations(t, { type, stream, callers })
        const ends = Object.fromEntries(items.map((dispatch) => [dispatch.prompt, endOf(dispatch)]))
        const expected = documented.flatMap(({ fault, stays, once }) => [
          [`stays ${fault}.`, stays],
          [`once ${fault}.`, once],
        ])
        assert.deepEqual(ends, Object.fromEntries(expected))

        for (const { fault, codes, requests } of documented) {
          const asked = server.requests.filter(
            ({ conversation, turn }) => conversation === `stays ${fault}.` && turn === 0,
          )
          assert.equal(asked.length, requests, `${fault}: requests`)
          const dispatch = items.find(({ prompt }) => prompt === `stays ${fault}.`)
          const seen = await outcomesIn(app, dispatch?.session_id ?? '')
          assert.ok(seen.length > 0 && seen.every((code) => codes.includes(code)), `${fault}: recorded as ${seen}`)
        }
        const callersOfBroken = callers.filter((who) => who.startsWith('stays'))
        assert.deepEqual(callersOfBroken, [], 'no call of a broken answer was run')
        for (const { fault, once, codes } of documented.filter((row) => row.once === 'done' && row.fault !== 'huge'))
          assert.equal(
            callers.filter((who) => who === `once ${fault}.`).length,
            codes.includes('answer') ? 1 : 2,
            `${fault}: ${once}`,
          )
      })
})
