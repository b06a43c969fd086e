import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const sdk = (file: string) => fileURLToPath(new URL(`../sdk/src/${file}`, import.meta.url))

// biome-ignore lint/style/noDefaultExport: Vite reads it so.
export default defineConfig({
  // Wherever the page is served, it finds what belongs to it.
  base: './',
  plugins: [react()],
  resolve: {
    alias: [
      { find: /^@parley\/sdk$/, replacement: sdk('index.ts') },
      { find: /^@parley\/sdk\/api$/, replacement: sdk('api.ts') },
    ],
  },
  build: {
    target: 'es2022',
    // Those that know `light-dark()`: written out for older ones, it would need a colour scheme that no script sets.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    chunkSizeWarningLimit: 1_000,
  },
})
