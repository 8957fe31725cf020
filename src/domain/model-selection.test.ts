import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeKey, selectedModelFor } from './model-selection.ts'

test('E13: chat, then chat and user, then channel, then everything', () => {
  const all = [
    { scope: scopeKey({ channel: 'x', chat: 'c' }), model: 'chat of the channel' },
    { scope: scopeKey({ chat: 'c' }), model: 'chat' },
    { scope: scopeKey({ channel: 'x', chat: 'c', user: 'u' }), model: 'chat+user of the channel' },
    { scope: scopeKey({ chat: 'c', user: 'u' }), model: 'chat+user' },
    { scope: scopeKey({ channel: 'x' }), model: 'channel' },
    { scope: scopeKey({}), model: 'everything' },
  ]
  const here = { chat_id: 'c', user_id: 'u', channel: 'x' }
  for (let gone = 0; gone <= all.length; gone++)
    assert.equal(selectedModelFor(here, all.slice(gone)), all[gone]?.model, `without the first ${gone}`)
  assert.equal(selectedModelFor({ chat_id: 'other', user_id: 'u' }, all), 'everything')
  assert.equal(selectedModelFor({ channel: 'x' }, all), 'channel')
  assert.equal(selectedModelFor({ chat_id: '', channel: 7 }, all), 'everything')
  assert.equal(selectedModelFor({ chat_id: 'c', channel: 'y' }, all), 'chat')
  assert.equal(new Set(all.map(({ scope }) => scope)).size, 6)
})
