/** The acting server as a process that the SDK makes: controlled-server-sdk-main.ts FOLDER */

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { actingIn } from './controlled-server.ts'
import { offering } from './controlled-server-sdk.ts'

const does = actingIn(process.argv[2] ?? '', () => process.exit(7))
does.note(`started ${process.pid}`)
serveStdio(() => offering(does))
