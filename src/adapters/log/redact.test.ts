import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { redactor, secretsIn } from './redact.ts'

const { redact } = redactor([])

describe('case 60: redaction', () => {
  test('what looks like a secret is hidden, and what it is called stays', () => {
    const looks: Readonly<Record<string, string>> = {
      '{"text":"see\\nsk-ant-api03-abcdefghijklmnop"}': '{"text":"see\\n(secret)"}',
      'Authorization: Bearer abc': 'Authorization: Bearer (secret)',
      '{"headers":{"authorization":"Basic dXNlcg=="}}': '{"headers":{"authorization":"Basic (secret)"}}',
      '"curl -H \\"Authorization: Bearer abc\\" x"': '"curl -H \\"Authorization: Bearer (secret)\\" x"',
      'x-api-key: short': 'x-api-key: (secret)',
      'Set-Cookie: sid=abc; Path=/': 'Set-Cookie: sid=(secret); Path=/',
      'sent with bearer abcdefghijklmnop': 'sent with bearer (secret)',
      'SOME_API_KEY=a1b2c3d4e5': 'SOME_API_KEY=(secret)',
      '"apiKey": "a1b2c3d4e5"': '"apiKey": "(secret)"',
      'password: "correct1horse"': 'password: "(secret)"',
      'postgres://joe:pw@host/db': 'postgres://joe:(secret)@host/db',
      'use sk-ant-api03-abcdefghijklmnop now': 'use (secret) now',
      ghp_abcdefghijklmnopqrstuv: '(secret)',
      AKIAABCDEFGHIJKLMNOP: '(secret)',
      'eyJhbGciOiJI.eyJzdWIiOiIx.c2ln': '(secret)',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----':
        '-----BEGIN RSA PRIVATE KEY-----(secret)-----END RSA PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----\nMIIE': '-----BEGIN PRIVATE KEY-----(secret)',
    }
    for (const [text, told] of Object.entries(looks)) assert.equal(redact(text), told)
  })

  test('what only sounds like it is left alone', () => {
    for (const text of [
      'const token = readToken()',
      'input_tokens: 12345678',
      'risk-assessment-for-everybody-now',
      'the key: value pairs of a map',
      'see https://example.com:8080/path',
      'password: string',
    ])
      assert.equal(redact(text), text)
  })

  test('a known secret is hidden in every form in which it travels', () => {
    const secret = 'p"ss/wörd?x'
    const own = redactor([secret])
    for (const form of [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ])
      assert.match(own.redact(`before ${form} after`), /^before "?\(secret\)=*"? after$/)
    assert.equal(redactor(['abcd']).redact('xabcdy'), 'x(secret)y')
  })

  test('three characters are no secret: they are in every other word', () => {
    const short = redactor(['', 'a', 'ab', 'abc'])
    for (const text of ['abc', '{"a":"abc"}', 'YWJj', '616263']) assert.equal(short.redact(text), text)
    assert.equal(short.cut('abcabc', 4), 'abca…')
  })

  test('variables whose names speak of secrets hold them', () => {
    const env = {
      OPENAI_API_KEY: 'abcdefgh',
      GITHUB_TOKEN: 'ijklmnop',
      HOME: '/home/somebody',
      MY_KEY: 'x',
      NONE: undefined,
    }
    assert.deepEqual(secretsIn(env), ['abcdefgh', 'ijklmnop'])
  })

  test('a hostile text takes no longer than its length', () => {
    for (const piece of [
      'sk-',
      '://a:',
      'api_key="',
      'authorization: bearer ',
      '-----BEGIN PRIVATE KEY-----',
      'key ',
      'eyJ.',
    ])
      assert.equal(typeof redact(piece.repeat(200_000 / piece.length)), 'string')
  })
})
