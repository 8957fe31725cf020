/** Retried runs that have no task but messages: they read their messages again. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import {
  lastRequest,
  openTalkApp,
  pairTalk,
  receivedTexts,
  routing,
  say,
  type TalkApp,
  work,
} from '../support/conversations.ts'
import { freshFolder } from '../support/open-app.ts'

const INVALID = routing({ new: 5 })
const HELLO = routing({ none: true, reply: 'Hello.' })

const failedRuns = async ({ app }: TalkApp): Promise<readonly string[]> =>
  (await app.run('queue list', { status: 'failed' })).items.map(({ dispatch_id }) => dispatch_id)

async function retryFailed(talk: TalkApp): Promise<string> {
  const id = (await failedRuns(talk))[0] ?? assert.fail('nothing has failed')
  await talk.app.run('queue retry', { id })
  await work(talk)
  return id
}

describe('a retried run', () => {
  test('O12: a message that a run read before it failed is answered by the retry, also after a restart', async (t) => {
    const home = freshFolder(t)
    const first = await openTalkApp(t, { front: () => INVALID }, { home })
    await pairTalk(first)
    await say(first, 'paint the shed')
    await work(first)
    assert.deepEqual(receivedTexts(first), [
      '**Not finished.** The model’s answers could not be used, 3 times in a row.',
    ])
    await first.app.close()
    const second = await openTalkApp(t, { front: () => HELLO }, { home })
    const id = await retryFailed(second)
    assert.deepEqual(receivedTexts(second), ['Hello.'])
    assert.match(lastRequest(second), /paint the shed/)
    assert.match(JSON.stringify(await second.app.run('replay', { run: id })), /"identical":true/)
  })

  test('O12: the owner’s message to a session is worked on by the retry', async (t) => {
    let isBroken = true
    const loop = { calls: [{ tool: 'ask_user', args: { nothing: true } }] }
    const talk = await openTalkApp(t, {
      front: () => routing({ new: true }),
      work({ messages }: ModelRequest) {
        const isSecond = JSON.stringify(messages).includes('in green')
        return isSecond && isBroken ? loop : { text: isSecond ? 'It is green.' : 'It is painted.' }
      },
    })
    await talk.app.run('chat', { text: 'paint the shed' })
    const { items } = await talk.app.run('sessions list', {})
    const session = items.find(({ session_id }) => !session_id.startsWith('chat-'))?.session_id ?? ''
    await talk.app.run('send', { session, text: 'now in green' })
    await work(talk)
    isBroken = false
    const id = await retryFailed(talk)
    assert.equal((await talk.app.run('queue show', { id })).result, 'It is green.')
  })

  test('O12: what a later run has answered is not answered again', async (t) => {
    let isBroken = true
    const talk = await openTalkApp(t, {
      front() {
        if (isBroken) throw new TirelessError('model_refused', 'no credit is left')
        return HELLO
      },
    })
    await pairTalk(talk)
    await say(talk, 'the first')
    await work(talk)
    isBroken = false
    await say(talk, 'the second')
    await work(talk)
    const asked = talk.model.requests.length
    assert.match(lastRequest(talk), /the first.*the second/)
    await retryFailed(talk)
    assert.equal(talk.model.requests.length, asked)
    assert.deepEqual(receivedTexts(talk).filter((text) => text === 'Hello.').length, 1)
  })
})
