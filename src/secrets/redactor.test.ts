import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base64, ENCODINGS, keyLine, SECRET_SHAPES } from '../../test/support/planted-secrets.ts'
import { Redactor } from './redactor.ts'
import { isLikelySecret, secretsInEnv } from './secret-heuristics.ts'

const { redact } = new Redactor('key')

function redactorOf(...values: readonly string[]): Redactor {
  const made = new Redactor('key')
  for (const [i, value] of values.entries()) made.addSecret(`S${i}`, value)
  return made
}

describe('case 60: redaction', () => {
  test('values that look like secrets are removed, their names stay', () => {
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
    for (const [text, redacted] of Object.entries(looks)) assert.equal(redact(text), redacted)
  })

  test('a text without secrets is checked again after a new secret is known, however long it is', () => {
    const made = new Redactor('key')
    made.addSecret('OTHER', 'another-secret-value-1')
    const texts = ['a hunter2hunter2', `${'word '.repeat(200)}hunter2hunter2`]
    for (const text of texts)
      for (const hides of [made.redactKnown, made.redact, made.redactKnown]) assert.equal(hides(text), text)
    made.addGuess('hunter2hunter2')
    for (const text of texts) assert.match(made.redact(text), /\(secret\)$/)
    for (const text of texts) assert.equal(made.redactKnown(text), text)
    made.addSecret('LATE', 'hunter2hunter2')
    for (const text of texts)
      for (const hides of [made.redactKnown, made.redact]) assert.match(hides(text), /‹secret:LATE›$/)
  })

  test('texts that only mention secrets stay unchanged', () => {
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

  test('three characters are no secret: they occur in ordinary words', () => {
    const short = redactorOf('', 'a', 'ab', 'abc', 'a b\\c ')
    for (const text of ['abc', '{"a":"abc"}', 'YWJj', '616263', 'a b\\c ']) assert.equal(short.redact(text), text)
    assert.equal(short.redactAndClip('abcabc', 4), 'abca…')
  })

  test('values of variables with names like KEY or TOKEN count as secrets', () => {
    const env = { OPENAI_API_KEY: 'abcdefgh', GITHUB_TOKEN: 'ijklmnop', HOME: '/home/user', NONE: undefined }
    assert.deepEqual(
      secretsInEnv(env).map(({ name }) => name),
      ['OPENAI_API_KEY', 'GITHUB_TOKEN'],
    )
    for (const value of ['a1b2c3d4', 'xGhYtRkLmNbVcZqW', 'hunter2-hunter2']) assert.ok(isLikelySecret(value), value)
    for (const value of [
      'required',
      '/run/keys/id_1',
      'https://a.example/1',
      '10000000',
      'correct horse battery',
      'short1',
    ])
      assert.ok(!isLikelySecret(value), value)
  })

  test('the time is linear in the length, also for hostile texts', () => {
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

/** The characters of a secret that may remain: too few to be of use. */
const MAX_LEFT = 4

/** Of the secret itself, or of an encoding or a part of it. */
const PLACEHOLDER = /‹secret:S0(?:#[0-9a-f]{6})?›/

describe('case 136: a known secret', () => {
  for (const [shape, secret] of Object.entries(SECRET_SHAPES))
    test(`${shape}: is removed in every encoding`, () => {
      const { redactKnown: hide } = redactorOf(secret)
      for (const [writing, write] of Object.entries(ENCODINGS)) {
        const text = write(secret)
        const redacted = hide(`before ${text} after`)
        const left = redacted.replace(PLACEHOLDER, '').length - 'before  after'.length
        const around = write('').length + (writing.includes('base64') ? 12 : 0)
        assert.match(redacted, PLACEHOLDER, writing)
        assert.ok(left <= around + MAX_LEFT, `${writing}: ${redacted}`)
      }
    })

  test('is removed from pieces, wherever the text is split', () => {
    for (const secret of Object.values(SECRET_SHAPES)) {
      const text = `so ${secret}, or ${base64(secret)}; and not ${secret.slice(0, 4)}.`
      const { redactKnown: hide } = redactorOf(secret)
      for (const size of [1, 2, 3, 7, 50]) {
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        const hiding = redactorOf(secret).stream()
        const redacted = pieces.map((piece) => hiding.push(piece)).join('') + hiding.end()
        assert.equal(redacted, hide(text))
      }
    }
  })

  test('a stream holds back no more than necessary', () => {
    const hiding = redactorOf(SECRET_SHAPES.token ?? '').stream()
    assert.equal(hiding.push('Good morning, ghx'), 'Good morning, ')
    assert.equal(hiding.push(' is no word. '), 'ghx is no word. ')
    assert.equal(hiding.push('Neither is g'), 'Neither is ')
    assert.equal(hiding.end(), 'g')
  })

  test('a part of a long secret is removed, too, but not the common lines of key files', () => {
    const pem = SECRET_SHAPES.pem ?? ''
    const { redactKnown: hide } = redactorOf(pem)
    assert.match(hide(`line: ${keyLine(7)}!`), new RegExp(`^line: ${PLACEHOLDER.source}!$`))
    assert.match(hide(base64(pem).slice(300, 500)), new RegExp(`^${PLACEHOLDER.source}$`))
    assert.equal(hide('-----BEGIN PRIVATE KEY-----'), '-----BEGIN PRIVATE KEY-----')
  })

  test('JSON stays JSON, and two overlapping secrets are both removed', () => {
    const { redactKnown: hide } = redactorOf('"quoted" 1234567890', 'n1234567')
    for (const value of ['"quoted" 1234567890', 'an1234567', 'a"n1234567'])
      assert.doesNotMatch(JSON.stringify(JSON.parse(hide(JSON.stringify({ value })))), /1234567/)
    assert.equal(redactorOf('alpha-12345', '12345-omega').redactKnown('alpha-12345-omega').replace(PLACEHOLDER, ''), '')
  })

  test('nothing else in a text changes', () => {
    const { redactKnown: hide } = redactorOf(...Object.values(SECRET_SHAPES))
    for (const text of ['', 'zq7#K d', 'ghx_', 'secret:S0', 'correct horse', '‹secret:S0›', 'x'.repeat(5000)])
      assert.equal(hide(text), text)
  })

  test('a long text costs one lookup per letter, whatever it contains', () => {
    const { redactKnown: hide } = redactorOf(...Object.values(SECRET_SHAPES))
    for (const text of [
      '-----BEGIN PRIVATE KEY-----\n',
      'ghx_9f8Ae7Dc6B',
      'aaaaaaaaaa',
      'correct horse ',
      '\\\\\\n',
      ' ',
    ])
      assert.equal(typeof hide(text.repeat(1_000_000 / text.length)), 'string')
  })
})
