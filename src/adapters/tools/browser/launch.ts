/** How Chromium is started: a profile of its own, no downloads, no service workers, and no way out but the proxy. */

import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import type { Egress, EgressProxy } from '../../../ports/egress.ts'

const QUIET = [
  ...[
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
  ...[
    '--disable-domain-reliability',
    '--dns-prefetch-disable',
    '--disable-breakpad',
    '--no-pings',
    '--disable-dev-shm-usage',
  ],
  // Whatever does not go through the proxy goes nowhere: no name is resolved, no datagram leaves.
  ...[
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ],
]

export interface Launching {
  readonly egress: Egress
  /** Where the program is. */
  readonly chromium: string
  /** Of profiles: whatever lies there when the program begins was left by one that was killed. */
  readonly folder: string
  /** All of the environment that it gets. */
  readonly env: Readonly<Record<string, string>>
  /** As root its own sandbox cannot be had. */
  readonly isRoot: boolean
}

/** `folder`: all that it writes. */
export async function launchContext(
  { chromium: executablePath, folder: own, env, isRoot }: Omit<Launching, 'egress'>,
  proxy: EgressProxy,
): Promise<BrowserContext> {
  // Large, and needed by few.
  const { chromium } = await import('playwright-core')
  return chromium.launchPersistentContext(join(own, 'profile'), {
    ...{ executablePath, headless: true, chromiumSandbox: !isRoot, args: QUIET, env: { ...env, HOME: own } },
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false, artifactsDir: join(own, 'artifacts') },
    proxy: {
      server: `http://127.0.0.1:${proxy.port}`,
      bypass: '<-loopback>',
      username: proxy.user,
      password: proxy.password,
    },
    acceptDownloads: false,
    serviceWorkers: 'block',
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
  })
}
