/** The table of base URLs: each form that people write, and the address that requests go to. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeBaseUrl } from './base-url.ts'
import { PROVIDERS, type ProtocolName } from './providers.ts'

const normalize = (protocol: ProtocolName, url: string, usual?: string): string =>
  normalizeBaseUrl({ url, setting: 'SOME_BASE_URL', protocol, usual })

const ROWS: Readonly<Record<ProtocolName, readonly (readonly [given: string, expected: string])[]>> = {
  anthropic: [
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/messages', 'https://api.anthropic.com/v1'],
    ['https://api.deepseek.com/anthropic', 'https://api.deepseek.com/anthropic/v1'],
    ['https://gateway.example/v1/account/anthropic', 'https://gateway.example/v1/account/anthropic/v1'],
    ['https://odd.example/messages', 'https://odd.example'],
  ],
  google: [
    ['https://g.example', 'https://g.example/v1beta'],
    ['https://g.example/v1beta/', 'https://g.example/v1beta'],
    ['https://g.example/v1', 'https://g.example/v1'],
    ['https://g.example/gemini', 'https://g.example/gemini/v1beta'],
    ['https://g.example/v1beta/models/gemini-flash-latest:generateContent', 'https://g.example/v1beta'],
  ],
  openai: [
    ['https://api.openai.com', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1/', 'https://api.openai.com/v1'],
    ['https://api.openai.com/v1/responses', 'https://api.openai.com/v1'],
  ],
  'openai-compatible': [
    ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1'],
    ['http://127.0.0.1:11434//', 'http://127.0.0.1:11434/v1'],
    [' http://127.0.0.1:11434/v1 ', 'http://127.0.0.1:11434/v1'],
    ['https://x.example/api/paas/v4', 'https://x.example/api/paas/v4'],
    ['https://x.example/v1beta/openai/', 'https://x.example/v1beta/openai'],
    ['https://models.example/inference', 'https://models.example/inference'],
    ['https://models.example/chat/completions', 'https://models.example'],
    ['https://x.example/openai/v1/chat/completions', 'https://x.example/openai/v1'],
  ],
}

test('base URLs with or without version, slash and endpoint lead to the same address', () => {
  for (const [protocol, rows] of Object.entries(ROWS))
    for (const [given, expected] of rows)
      assert.equal(normalize(protocol as ProtocolName, given), expected, `${protocol} at ${given}`)
})

test("a known provider's own path is added to its own hosts only", () => {
  const { base_url: openrouter } = PROVIDERS.openrouter
  assert.equal(normalize('openai-compatible', 'https://openrouter.ai', openrouter), openrouter)
  assert.equal(normalize('openai-compatible', 'https://openrouter.ai/api/', openrouter), openrouter)
  assert.equal(normalize('openai-compatible', 'http://localhost:4000', openrouter), 'http://localhost:4000/v1')
  const { base_url: dashscope } = PROVIDERS.dashscope
  const abroad = 'https://dashscope-intl.aliyuncs.com'
  assert.equal(normalize('openai-compatible', abroad, dashscope), `${abroad}/compatible-mode/v1`)
})

test('every known address is left as it is', () => {
  for (const { protocol, base_url } of Object.values(PROVIDERS))
    assert.equal(normalize(protocol, base_url, base_url), base_url)
})

test('what is no address is refused with the name of its setting, and a password is not quoted', () => {
  for (const url of ['nonsense', 'localhost:8080/v1', 'ftp://host', 'http://', 'https://host/v1?key=k-1234'])
    assert.throws(() => normalize('anthropic', url), { code: 'config_invalid', message: /^SOME_BASE_URL .*do this/ })
  for (const url of ['http://me:pass-9876@host/v1', 'me:pass-9876@host', 'https://host/v1?key=k-1234'])
    assert.throws(
      () => normalize('anthropic', url),
      (error) => error instanceof Error && !/pass-9876|k-1234/.test(error.message),
    )
})
