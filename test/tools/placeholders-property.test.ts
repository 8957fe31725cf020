/** Generated files with many secrets: viewed, and written back with one other line changed. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { callTool, move, openSecretWork, type SecretWork } from '../support/hidden-texts.ts'
import { base64, ENCODINGS, SECRET_SHAPES } from '../support/planted-secrets.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

const FILES = 60
/** The line that is changed. */
const CHANGED = 'the line that is changed 换'

const { token = '', ...others } = SECRET_SHAPES
/** The home has a token of its own. */
const SECRETS = { ...others, access: token }

/** Numbers below `limit`, the same for the same seed. */
function numbers(seed: number): (limit: number) => number {
  let state = seed + 1
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

function generateFile(seed: number): string {
  const below = numbers(seed)
  const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T
  const secret = (): string => {
    const plain = pick(Object.values(SECRETS))
    const kind = below(4)
    if (kind === 0) return pick(Object.values(ENCODINGS))(plain)
    if (kind === 1) return `${plain}${pick(Object.values(SECRETS))}`
    return kind === 2 ? `${base64(plain)}.${plain}` : plain
  }
  const line = (): string =>
    pick([
      () => pick(['', '# a comment', '密码：见下', 'name = value', '\t"quoted \\"text\\"",', '‹secret:NOBODY›']),
      () => `KEY_${below(5)}=${secret()}`,
      () => `${secret()}`,
      () => `"密钥": "${secret()}", "other": ${secret()}`,
    ])()
  const lines = Array.from({ length: 1 + below(8) }, line)
  lines.splice(below(lines.length + 1), 0, CHANGED)
  const text = lines.join(pick(['\n', '\r\n']))
  return `${pick(['', '', '\uFEFF'])}${text}${pick(['', '\n', '\r\n'])}`
}

const changed = (text: string): string => text.replace(CHANGED, 'changed 改')

describe(`O7: ${FILES} generated files with secrets in many encodings are written back exactly`, () => {
  const each = async (work: SecretWork, writeBack: (seen: string) => ReturnType<typeof callTool>): Promise<void> => {
    for (let seed = 0; seed < FILES; seed += 1) {
      const text = generateFile(seed)
      work.write('file', text)
      const { results, journal } = await work.run(move('view_file', { path: 'file' }), writeBack)
      const what = `seed ${seed}: ${JSON.stringify(results)}`
      assert.equal(work.read('file'), changed(text), what)
      for (const secret of Object.values(SECRETS)) assert.ok(!JSON.stringify(journal).includes(secret), what)
    }
  }

  test('create_file', async (t) => {
    const work = await openSecretWork(t, SECRETS)
    await each(work, (seen) => callTool('create_file', { path: 'file', content: changed(seen) }))
  })

  test('edit_file', async (t) => {
    const work = await openSecretWork(t, SECRETS)
    await each(work, (seen) => callTool('edit_file', { path: 'file', old: seen, new: changed(seen) }))
  })

  test('bash: a here-document', { skip: WITHOUT_SANDBOX }, async (t) => {
    const work = await openSecretWork(t, SECRETS)
    await each(work, (seen) => {
      const isEnded = seen.endsWith('\n')
      const cut = isEnded ? '' : '; truncate -s -1 file'
      return callTool('bash', { command: `cat > file <<'END'${cut}\n${changed(seen)}${isEnded ? '' : '\n'}END` })
    })
  })
})
