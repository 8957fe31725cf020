// Builds the page if it is missing or its sources have changed.
//
//   node scripts/web.mjs
//
// Builds in another folder and renames it, so that a server never finds an incomplete page.

import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { built, digest, isBuilt, STAGING, STAMP } from './web-stamp.mjs'

async function build() {
  const web = dirname(built)
  const stamp = digest()
  const staging = mkdtempSync(join(web, STAGING))
  try {
    const outDir = join(staging, 'new')
    const vite = await import('vite')
    await vite.build({
      configFile: join(web, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir, emptyOutDir: true },
    })
    writeFileSync(join(outDir, STAMP), stamp)
    if (existsSync(built)) renameSync(built, join(staging, 'old'))
    renameSync(outDir, built)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

try {
  if (!isBuilt()) await build()
} catch (error) {
  // A concurrent build may have finished first.
  if (!isBuilt()) {
    process.stderr.write(`tireless: the page could not be built: ${error.message}\n`)
    process.exitCode = 1
  }
}
