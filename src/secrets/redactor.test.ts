import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base64, keyLine, SHAPES, WRITINGS } from '../../test/planted.ts'
import { isLikely, secretsIn } from './looks.ts'
import { Redactor } from './redactor.ts'

const { redact } = new Redactor()

function knowing(...values: readonly string[]): Redactor {
  const made = new Redactor()
  for (const [i, value] of values.entries()) made.know(`S${i}`, value)
  return made
}

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

  test('a text that had nothing to hide is looked at again once a secret is known, however long it is', () => {
    const made = new Redactor()
    made.know('OTHER', 'another-secret-value-1')
    const texts = ['a hunter2hunter2', `${'word '.repeat(200)}hunter2hunter2`]
    for (const text of texts) for (const hides of [made.hide, made.redact, made.hide]) assert.equal(hides(text), text)
    made.guess('hunter2hunter2')
    for (const text of texts) assert.match(made.redact(text), /\(secret\)$/)
    for (const text of texts) assert.equal(made.hide(text), text)
    made.know('LATE', 'hunter2hunter2')
    for (const text of texts) for (const hides of [made.hide, made.redact]) assert.match(hides(text), /‹secret:LATE›$/)
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

  test('three characters are no secret: they are in every other word', () => {
    const short = knowing('', 'a', 'ab', 'abc', 'a b\\c ')
    for (const text of ['abc', '{"a":"abc"}', 'YWJj', '616263', 'a b\\c ']) assert.equal(short.redact(text), text)
    assert.equal(short.cut('abcabc', 4), 'abca…')
  })

  test('variables whose names speak of secrets hold them, as likely as not', () => {
    const env = { OPENAI_API_KEY: 'abcdefgh', GITHUB_TOKEN: 'ijklmnop', HOME: '/home/somebody', NONE: undefined }
    assert.deepEqual(
      secretsIn(env).map(({ name }) => name),
      ['OPENAI_API_KEY', 'GITHUB_TOKEN'],
    )
    for (const value of ['a1b2c3d4', 'xGhYtRkLmNbVcZqW', 'hunter2-hunter2']) assert.ok(isLikely(value), value)
    for (const value of [
      'required',
      '/run/keys/id_1',
      'https://a.example/1',
      '10000000',
      'correct horse battery',
      'short1',
    ])
      assert.ok(!isLikely(value), value)
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

/** What may be left of a secret: fewer characters than anybody could begin with. */
const MOST_LEFT = 4

describe('case 136: a known secret', () => {
  for (const [shape, secret] of Object.entries(SHAPES))
    test(`${shape}: is hidden however it is written`, () => {
      const { hide } = knowing(secret)
      for (const [writing, write] of Object.entries(WRITINGS)) {
        const text = write(secret)
        const told = hide(`before ${text} after`)
        const left = told.replace('‹secret:S0›', '').length - 'before  after'.length
        const around = write('').length + (writing.includes('base64') ? 12 : 0)
        assert.ok(told.includes('‹secret:S0›'), `${writing}: ${told}`)
        assert.ok(left <= around + MOST_LEFT, `${writing}: ${told}`)
      }
    })

  test('is hidden in pieces, wherever they are cut', () => {
    for (const secret of Object.values(SHAPES)) {
      const text = `so ${secret}, or ${base64(secret)}; and not ${secret.slice(0, 4)}.`
      const { hide } = knowing(secret)
      for (const size of [1, 2, 3, 7, 50]) {
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        const hiding = knowing(secret).stream()
        const told = pieces.map((piece) => hiding.push(piece)).join('') + hiding.end()
        assert.equal(told, hide(text))
      }
    }
  })

  test('a stream holds back no more than it must', () => {
    const hiding = knowing(SHAPES.token ?? '').stream()
    assert.equal(hiding.push('Good morning, ghx'), 'Good morning, ')
    assert.equal(hiding.push(' is no word. '), 'ghx is no word. ')
    assert.equal(hiding.push('Neither is g'), 'Neither is ')
    assert.equal(hiding.end(), 'g')
  })

  test('a part of a long one is hidden, too, and what stands in every key is not', () => {
    const pem = SHAPES.pem ?? ''
    const { hide } = knowing(pem)
    assert.equal(hide(`line: ${keyLine(7)}!`), 'line: ‹secret:S0›!')
    assert.equal(hide(base64(pem).slice(300, 500)), '‹secret:S0›')
    assert.equal(hide('-----BEGIN PRIVATE KEY-----'), '-----BEGIN PRIVATE KEY-----')
  })

  test('JSON stays JSON, and two secrets that overlap are both hidden', () => {
    const { hide } = knowing('"quoted" 1234567890', 'n1234567')
    for (const value of ['"quoted" 1234567890', 'an1234567', 'a"n1234567'])
      assert.doesNotMatch(JSON.stringify(JSON.parse(hide(JSON.stringify({ value })))), /1234567/)
    assert.equal(knowing('alpha-12345', '12345-omega').hide('alpha-12345-omega'), '‹secret:S0›')
  })

  test('nothing else in a text is touched', () => {
    const { hide } = knowing(...Object.values(SHAPES))
    for (const text of ['', 'zq7#K d', 'ghx_', 'secret:S0', 'correct horse', '‹secret:S0›', 'x'.repeat(5000)])
      assert.equal(hide(text), text)
  })

  test('a long text costs one look per letter, whatever stands in it', () => {
    const { hide } = knowing(...Object.values(SHAPES))
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
