/** Runs that read a message are listed with it, because they have no prompt of their own. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from './support/open-app.ts'
import { openTalkPage } from './support/talk-page.ts'

test('a run that reads a message of the owner has the message as its title', async (t) => {
  const { app } = await openTalkPage(t)
  await app.run('send', { text: 'Count the figures of March', chat: 'page' })
  const titles = async () => (await app.run('queue list', {})).items.map(({ session_id, title }) => [session_id, title])
  await waitUntil(async () => (await titles()).length > 0)
  const front = (await titles()).find(([session]) => session === 'chat-page')
  assert.equal(front?.[1], 'Count the figures of March')
  await waitUntil(async () => (await app.run('queue list', { open: true })).total === 0)
})
