/* A plugin of QEMU (user mode) that counts the instructions that a program executes.
 *
 * Prints one number to standard error. The functions are those of version 1 of QEMU's plugin
 * interface (QEMU 4.2 to 8); lab/arm-instructions builds it. */

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern void qemu_plugin_register_vcpu_tb_trans_cb(
    plugin_id id, void (*translated)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(
    struct qemu_plugin_tb *block, int operation, void *number, uint64_t added);
extern void qemu_plugin_register_atexit_cb(
    plugin_id id, void (*ended)(plugin_id, void *), void *data);

/* The operation that adds to a number of 64 bits. */
enum { ADD = 0 };

int qemu_plugin_version = 1;

static uint64_t instructions;

static void translated(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(
        block, ADD, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    fprintf(stderr, "instructions: %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments)
{
    (void)info;
    (void)count;
    (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
