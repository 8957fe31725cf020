/** A home with configured secrets, and what must not contain them. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN, NODE_FLAGS, run } from '../crash/kills.ts'

export const SECRETS = {
  fromVariable: 'sk-variable-0123456789',
  fromFile: 'sk-file"???>>>/ghi==',
  inHeader: 'Bearer header-987654321',
  inAddress: 'address-password-5',
}

/** Writes a configuration with a secret in every place that can hold one. */
export function homeWithSecrets(home: string, url: string): void {
  writeFileSync(join(home, 'key.txt'), `${SECRETS.fromFile}\n`, { mode: 0o600 })
  const openAi = 'type: openai-compatible'
  writeFileSync(
    join(home, 'tireless.yaml'),
    `models:
  default: one/test
  providers:
    one: { ${openAi}, base_url: "${url}", api_key_env: ONE_KEY, headers: { X-Also: "${SECRETS.inHeader}" } }
    two: { ${openAi}, base_url: "${url}", api_key_file: key.txt }
    three: { ${openAi}, base_url: "http://me:${SECRETS.inAddress}@127.0.0.1:9/v1", api_key: "\${ONE_KEY}" }
mcp_servers:
  mail: { command: [node, server.js, --token, ${SECRETS.inAddress}], env: { MAIL_TOKEN: "${SECRETS.fromVariable}" } }
channels: { telegram: { bot: "${SECRETS.inAddress}" } }
kernel: { max_concurrent: 5, id: "\${PLAIN:-house}" }
`,
  )
}

export const withKey = (home: string, ...args: string[]) =>
  run('env', [`ONE_KEY=${SECRETS.fromVariable}`, process.execPath, ...NODE_FLAGS, MAIN, ...args, '--home', home])

export const assertNoSecretIn = (text: string): void => {
  for (const secret of Object.values(SECRETS))
    for (const form of [secret, Buffer.from(secret).toString('base64').replace(/=+$/, ''), encodeURIComponent(secret)])
      assert.ok(!text.includes(form), `${form} in ${text.slice(0, 2000)}`)
}
