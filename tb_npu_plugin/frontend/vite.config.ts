import { defineConfig } from 'vitest/config';

// TensorBoard imports `static/index.js` by name, so the entry has no hash; its chunks do.
// Everything is relative: the tab must work behind path_prefix, proxies and in notebooks.
export default defineConfig({
  base: './',
  build: {
    outDir: '../static',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: {
      input: 'src/index.ts',
      preserveEntrySignatures: 'exports-only',
      output: {
        entryFileNames: 'index.js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        assetFileNames: 'chunks/[name]-[hash][extname]',
        // Few files: TensorBoard's server closes each connection, and the way to it may be long.
        codeSplitting: {
          groups: [
            {
              name: 'shell',
              test: /node_modules|src\/(lib|i18n|api|state)\/|components\/\w+\./,
              priority: 2,
            },
            { name: 'table', test: /src\/components\/table\// },
            { name: 'charts', test: /src\/charts\// },
          ],
        },
      },
    },
  },
  test: {
    environment: 'happy-dom',
    css: true, // the contrast test reads the tokens
    include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.mjs'],
  },
});
