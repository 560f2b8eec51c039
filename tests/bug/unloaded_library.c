/*
 * unloaded_library.c - what names_of_what_is_left.c has unloaded: calls it back
 * meanwhile.
 */
void (*while_unloaded)(void);

__attribute__((destructor)) static void call_back(void)
{
        if (while_unloaded)
                while_unloaded();
}
